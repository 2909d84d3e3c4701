// Multi-head self-attention, as in tinyvit/ops/attention.py; each head can be switched off.

// Self-attention among tokens x (N, D). params are the matrices and biases of q k v and of the output;
// relative, if there is one, is a table of relative positions (2N - 1, K); off(h) says whether head h is
// switched off. Returns the output y (N, D), A (H, N, N), the lengths of the value vectors (H, N), and what
// lies between.
function attention(x, params, H, relative, off) {
  const D = params.outBias.length;
  const N = x.length / D;
  const K = D / H;
  const qkv = linear(x, params.qkvWeight, params.qkvBias); // (N, 3D): columns (q k v, head, K)   eq. 1
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
  const y = linear(o, params.outWeight, params.outBias); // (N, D)   eq. 5
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
