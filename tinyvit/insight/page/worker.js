// The worker: it computes while the page stays free to answer your hand.
//  It is sent { load } once, and then { run, pixels, picture, changes, watch, back } for every forward pass.
// watch is the name of the array that the page shows step by step; picture is a number that changes with the
// pixels. If back is not null, it says whose probability the gradient is of, { target }, where null is the
// class that the model finds most likely; what is shown is then the gradient of that array.

let model = null;
let unchanged = { picture: null, probabilities: null }; // what the model says of the picture as it is

function load({ config, rows, weights }) {
  model = { config, params: decodeWeights(weights, rows) };
}

function run({ run: number, pixels, picture, changes, watch, back }) {
  const { heads, tokens } = model.config;
  const start = performance.now();
  const [kept, shapes] = [{}, {}];
  const result = forward(model, pixels, changes, (name, array, shape) => {
    kept[name] = array;
    shapes[name] = shape;
  });
  const milliseconds = performance.now() - start;
  if (unchanged.picture !== picture) {
    unchanged = { picture, probabilities: forward(model, pixels).probabilities };
  }
  const gradients = back && gradientsOf(kept, back.target, changes);
  return {
    ...result,
    run: number,
    rollout: rollout(result.attention, heads, tokens, changes.off),
    unchanged: unchanged.probabilities,
    watched: { name: watch, array: (gradients?.all ?? kept)[watch].slice(), shape: shapes[watch], back: Boolean(back) },
    arrived: gradients?.arrived,
    milliseconds,
  };
}

// The gradients of all arrays by name; and how long those are that arrive at each token after a block or of the
// stem, or at each pixel, where the largest of red, green and blue counts.
function gradientsOf(kept, target, changes) {
  const p = kept.probabilities;
  const [all, arrived] = [{}, {}];
  backward(model, kept, target ?? p.indexOf(Math.max(...p)), changes, (name, gradient) => {
    all[name] = gradient;
    if (name === "pixels") arrived[name] = rowsOf(gradient, 3).map((row) => Math.max(...row.map(Math.abs)));
    if (/skip2$|^embedded$/.test(name)) {
      arrived[name] = rowsOf(gradient, model.config.width).map((row) => Math.hypot(...row));
    }
  });
  return { all, arrived };
}

function rowsOf(array, width) {
  return Array.from({ length: array.length / width }, (_, i) => array.subarray(i * width, (i + 1) * width));
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
