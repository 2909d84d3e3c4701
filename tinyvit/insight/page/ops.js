// The operations of a Vision Transformer: those of tinyvit/ops, with the same equations, for one image.
//
// An array is a Float32Array whose rows follow one another, so that x (N, D) has entry (n, d) at n * D + d.
// The letters are those of tinyvit: N tokens, T patches, D width, H heads, K head width, P patch size.

// Pixels 0..255 to numbers from -1 to 1, as in tinyvit/data/augment.py.
function normalise(pixels) {
  return Float32Array.from(pixels, (value) => (value - 127.5) / 127.5);
}

// Cut an image (H, W, 3) into patches (T, P P 3): ops/patches.py, eq. 1.
function patchify(image, width, P) {
  const columns = width / P;
  const size = P * P * 3;
  const y = new Float32Array(image.length);
  for (let i = 0; i < image.length; i++) {
    const k = i % 3;
    const column = Math.floor(i / 3) % width;
    const row = Math.floor(i / 3 / width);
    const patch = Math.floor(row / P) * columns + Math.floor(column / P);
    y[patch * size + ((row % P) * P + (column % P)) * 3 + k] = image[i];
  }
  return y;
}

// y = x W + b for every row of x; W is stored input-by-output: ops/linear.py, eq. 1.
function linear(x, weight, bias) {
  const O = bias.length;
  const I = weight.length / O;
  const rows = x.length / I;
  const y = new Float32Array(rows * O);
  for (let r = 0; r < rows; r++) {
    const row = y.subarray(r * O, (r + 1) * O);
    row.set(bias);
    let i = 0;
    // Four inputs at a time, so that y is read and written a quarter as often.
    for (; i + 3 < I; i += 4) {
      const a = x[r * I + i],
        b = x[r * I + i + 1],
        c = x[r * I + i + 2],
        d = x[r * I + i + 3];
      const w = i * O,
        w1 = w + O,
        w2 = w1 + O,
        w3 = w2 + O;
      for (let o = 0; o < O; o++) {
        row[o] += a * weight[w + o] + b * weight[w1 + o] + c * weight[w2 + o] + d * weight[w3 + o];
      }
    }
    for (; i < I; i++) {
      for (let o = 0; o < O; o++) row[o] += x[r * I + i] * weight[i * O + o];
    }
  }
  return y;
}

// x + y, entry by entry; a y with fewer rows than x is added to the first ones.
function add(x, y) {
  const sum = x.slice();
  for (let i = 0; i < y.length; i++) sum[i] += y[i];
  return sum;
}

// Shift each row to mean 0, scale it to variance 1, apply gain and offset: ops/layer_norm.py, eq. 1 and 2.
function layerNorm(x, weight, bias, eps) {
  const D = weight.length;
  const y = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += D) {
    let mean = 0;
    for (let d = 0; d < D; d++) mean += x[start + d] / D;
    let variance = 0;
    for (let d = 0; d < D; d++) variance += (x[start + d] - mean) ** 2 / D;
    const r = 1 / Math.sqrt(variance + eps);
    for (let d = 0; d < D; d++) y[start + d] = (x[start + d] - mean) * r * weight[d] + bias[d];
  }
  return y;
}

// Softmax of every row of N numbers, in place: ops/softmax.py, eq. 1; minus the largest, against overflow.
function softmaxRows(x, N) {
  for (let start = 0; start < x.length; start += N) {
    let largest = -Infinity;
    for (let j = start; j < start + N; j++) largest = Math.max(largest, x[j]);
    let sum = 0;
    for (let j = start; j < start + N; j++) sum += x[j] = Math.exp(x[j] - largest);
    for (let j = start; j < start + N; j++) x[j] /= sum;
  }
  return x;
}

// The coefficients of p in eq. 2 of ops/erf.py, lowest order first, in t rescaled to [-1, 1].
const ERF = [
  -0.501436726538923, 0.5153126872285395, 0.00557080648395969, -0.021523657427472646, 0.0004930104865270568,
  0.0020289410072302045, -0.0003279791635275587, -0.000195722056531622, 7.708954752890425e-5,
  1.060148221654344e-5, -9.607447187439297e-6, 5.559888525870823e-7,
];

// The error function: 1 - erf(z) = t exp(-z^2 + p(t)) with t = 2 / (2 + z), and erf(-x) = -erf(x).
function erf(x) {
  const z = Math.min(Math.abs(x), 6);
  const t = 2 / (2 + z);
  const s = (2 * t - 1.25) / 0.75; // t goes from 1/4, at z = 6, to 1
  const p = ERF.reduceRight((sum, coefficient) => sum * s + coefficient, 0);
  return Math.sign(x) * (1 - t * Math.exp(p - z * z));
}

// GELU in the form that the model was trained with: ops/gelu.py, eq. 1 ("exact") or eq. 2 and 3 ("tanh").
function gelu(x, form) {
  if (form === "exact") return x.map((value) => (value * (1 + erf(value / Math.SQRT2))) / 2);
  const slope = 2 * Math.sqrt(2 / Math.PI);
  return x.map((value) => value / (1 + Math.exp(-slope * (value + 0.044715 * value ** 3))));
}

// The mean of the rows of x (N, D): ops/pooling.py, eq. 2.
function meanRows(x, D) {
  const mean = new Float64Array(D);
  for (let i = 0; i < x.length; i++) mean[i % D] += x[i];
  return Float32Array.from(mean, (sum) => (sum * D) / x.length);
}

// Multi-head self-attention among tokens x (N, D): ops/attention.py. The weights are the matrix (D, 3D) and
// bias of q k v, and those of the output (D, D); relative, if there is one, is a table of relative positions
// (2N - 1, K); off(h) says whether head h is switched off. Returns the output y (N, D), A (H, N, N), the
// lengths of the value vectors (H, N), and what lies between.
function attention(x, [qkvWeight, qkvBias, outWeight, outBias], H, relative, off) {
  const D = outBias.length;
  const N = x.length / D;
  const K = D / H;
  const qkv = linear(x, qkvWeight, qkvBias); // (N, 3D): columns (q k v, head, K)   eq. 1
  const S = scores(qkv, N, D, H, relative); // (H, N, N)   eq. 2
  const A = softmaxRows(S.slice(), N); // (H, N, N)   eq. 3
  const o = new Float32Array(N * D); // (N, D), heads side by side
  const lengths = new Float32Array(H * N);
  for (let h = 0; h < H; h++) {
    for (let j = 0; j < N; j++) {
      const v = j * 3 * D + 2 * D + h * K;
      for (let k = 0; k < K; k++) lengths[h * N + j] += qkv[v + k] ** 2;
      lengths[h * N + j] = Math.sqrt(lengths[h * N + j]);
      if (off(h)) continue; // its part of o stays zero, and no token hears of it
      for (let i = 0; i < N; i++) {
        const share = A[(h * N + i) * N + j];
        for (let k = 0; k < K; k++) o[i * D + h * K + k] += share * qkv[v + k]; // eq. 4
      }
    }
  }
  const y = linear(o, outWeight, outBias); // (N, D)   eq. 5
  return { y, A, lengths, qkv, S, o };
}

// S (H, N, N): how well the query of each token matches the key of each other, over sqrt(K).
function scores(qkv, N, D, H, relative) {
  const K = D / H;
  const S = new Float32Array(H * N * N);
  const q = new Float32Array(K);
  for (let h = 0; h < H; h++) {
    for (let i = 0; i < N; i++) {
      for (let k = 0; k < K; k++) q[k] = qkv[i * 3 * D + h * K + k] / Math.sqrt(K);
      for (let j = 0; j < N; j++) {
        const key = j * 3 * D + D + h * K;
        let sum = 0;
        for (let k = 0; k < K; k++) sum += q[k] * qkv[key + k];
        if (relative) {
          // Row N - 1 - (i - j) of the table belongs to the offset i - j: ops/relative_scores.py, eq. 1.
          const row = (N - 1 - i + j) * K;
          for (let k = 0; k < K; k++) sum += q[k] * relative[row + k];
        }
        S[(h * N + i) * N + j] = sum;
      }
    }
  }
  return S;
}
