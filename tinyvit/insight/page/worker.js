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

// Attention rollout (Abnar and Zuidema 2020): which tokens of the first block each later token comes from.
//  One block: average A over the heads, add the identity for the skip connection, and let each row sum to 1
// again. All blocks so far: the product of theirs. A head that is switched off counts as drawing nothing.

// One matrix (N, N) for each block: row i says what token i is made of when it leaves the block.
function rollout(attention, H, N, off = []) {
  const results = [];
  attention.forEach((A, block) => {
    const mixture = new Float32Array(N * N);
    for (let h = 0; h < H; h++) {
      if (off.includes(`${block}.${h}`)) continue;
      for (let ij = 0; ij < N * N; ij++) mixture[ij] += A[h * N * N + ij] / H;
    }
    for (let i = 0; i < N; i++) {
      mixture[i * N + i] += 1;
      const row = mixture.subarray(i * N, (i + 1) * N);
      const sum = row.reduce((total, share) => total + share, 0);
      for (let j = 0; j < N; j++) row[j] /= sum;
    }
    results.push(block ? product(mixture, results[block - 1], N) : mixture);
  });
  return results;
}

// The product of two matrices (N, N).
function product(a, b, N) {
  return linear(a, b, new Float32Array(N));
}

// In a worker there is no document; where there is one, as in a test, the functions above are used directly.
if (typeof document === "undefined" && typeof self !== "undefined") {
  self.onmessage = ({ data }) => self.postMessage(data.load ? { loaded: load(data.load) } : run(data));
}
