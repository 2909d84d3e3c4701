// The worker: it computes while the page stays free to answer your hand.
//  It is sent { load } once, and then { run, pixels, picture, changes, watch } for every forward pass. watch
// is the name of the array that the page shows step by step; picture is a number that changes with the
// pixels.

let model = null;
let unchanged = { picture: null, probabilities: null }; // what the model says of the picture as it is

function load({ config, rows, weights }) {
  model = { config, params: decodeWeights(weights, rows) };
}

function run({ run: number, pixels, picture, changes, watch }) {
  const { heads, tokens } = model.config;
  const start = performance.now();
  let watched = null;
  const result = forward(model, pixels, changes, (name, array, shape) => {
    if (name === watch) watched = { name, array: array.slice(), shape };
  });
  const milliseconds = performance.now() - start;
  if (unchanged.picture !== picture) {
    unchanged = { picture, probabilities: forward(model, pixels).probabilities };
  }
  return {
    ...result,
    run: number,
    rollout: rollout(result.attention, heads, tokens, changes.off),
    unchanged: unchanged.probabilities,
    watched,
    milliseconds,
  };
}

// In a worker there is no document; where there is one, as in a test, the functions above are used directly.
if (typeof document === "undefined" && typeof self !== "undefined") {
  self.onmessage = ({ data }) => self.postMessage(data.load ? { loaded: load(data.load) } : run(data));
}
