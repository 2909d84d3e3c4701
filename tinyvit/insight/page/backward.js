// The way back: the gradient of the loss through the steps of model.js, the last one first.

// The loss is the cross-entropy with class target, -log p_target. kept has the arrays of the forward pass by
// name, and changes are those it was made with. see(name, gradient) is called with the gradient of the loss
// in each of these arrays, in the same shape. Returns that of the pixels.
function backward(model, kept, target, changes = {}, see = () => {}) {
  const { config: c, params } = model;
  const { patches: T, tokens: N, width: D } = c;
  const seen = (name, gradient) => (see(name, gradient), gradient);

  let d = seen("logits", crossEntropyBackward(kept.probabilities, target)); // (C,)
  d = linearBackward(d, params["head.weight"], c.classes);
  if (c.pre_logits) {
    d = seen("pre_logits", d).map((each, i) => each * (1 - kept.pre_logits[i] ** 2)); // (F,): ops/tanh.py, eq. 2
    d = linearBackward(d, params["pre_logits.weight"], c.pre_logits);
  }
  d = seen("norm", poolingBackward(seen("pooled", d), N, c.pool)); // (N, D)
  d = layerNormBackward(d, entering(kept, c.layers), params["norm.weight"], c.eps);
  for (let i = c.layers - 1; i >= 0; i--) d = blockBackward(model, i, d, kept, changes, seen);

  for (const name of ["positions", "token"]) if (kept[name]) see(name, d); // what was added changes nothing
  d = seen("embedded", d.subarray((N - T) * D)); // (T, D): the class token keeps its own
  d = seen("patches", linearBackward(d, params["patch.weight"], D)); // (T, P P 3)
  return seen("pixels", unpatchify(changedBackward(d, T, changes), c.image_size[1], c.patch_size));
}

// Block i: dy (N, D) to dx (N, D), model/block.py, eq. 3, once for the MLP and once for attention.
function blockBackward(model, i, dy, kept, changes, see) {
  const { config: c, params } = model;
  const { width: D, heads: H, mlp_width: M } = c;
  const p = (name) => params[`blocks.${i}.${name}`];
  const k = (name) => kept[`blocks.${i}.${name}`];
  const seen = (name, gradient) => see(`blocks.${i}.${name}`, gradient);

  const dm = seen("mlp", seen("skip2", dy)); // (N, D)
  const dg = seen("gelu", linearBackward(dm, p("mlp.fc2.weight"), D)); // (N, M): ops/mlp.py, eq. 4
  const dh = seen("wide", geluBackward(dg, k("wide"), c.gelu)); // (N, M)                    eq. 5
  const dn2 = seen("norm2", linearBackward(dh, p("mlp.fc1.weight"), M)); // (N, D)           eq. 6
  const dmid = seen("skip1", add(dy, layerNormBackward(dn2, k("skip1"), p("norm2.weight"), c.eps)));

  const o = seen("heads", linearBackward(seen("attention", dmid), p("attn.out.weight"), D)); // (N, D)
  const relative = changes.positions === false ? null : relativeTable(model, i);
  const off = (h) => (changes.off ?? []).includes(`${i}.${h}`);
  const { dA, dS, dqkv } = attentionBackward(o, k("qkv"), k("weights"), H, relative, off);
  seen("weights", dA); // (H, N, N)
  seen("scores", dS); // (H, N, N)
  const dn1 = seen("norm1", linearBackward(seen("qkv", dqkv), p("attn.qkv.weight"), 3 * D)); // (N, D)
  const dx = add(dmid, layerNormBackward(dn1, entering(kept, i), p("norm1.weight"), c.eps)); // (N, D)
  return k("positions") ? seen("positions", dx) : dx;
}

// The tokens that entered block i or, behind the last one, the last LayerNorm.
function entering(kept, i) {
  const names = [`blocks.${i}.positions`, `blocks.${i - 1}.skip2`, "positions", "token", "embedded"];
  return kept[names.find((name) => kept[name])];
}

// Operations. Gradients have 64 bits, so that nothing is lost on the way.

// dz = p - t: ops/cross_entropy.py, eq. 4. Where the model is sure, p_target - 1 would have few digits.
function crossEntropyBackward(p, target) {
  const dz = Float64Array.from(p);
  dz[target] = 0;
  dz[target] = -dz.reduce((sum, each) => sum + each);
  return dz;
}

// dx = dy W^T for every row of dy, of width O: ops/linear.py, eq. 2.
function linearBackward(dy, weight, O) {
  const I = weight.length / O;
  const dx = new Float64Array((dy.length / O) * I);
  for (let start = 0, to = 0; start < dy.length; start += O) {
    for (let w = 0; w < weight.length; w += O, to++) {
      let sum = 0;
      for (let o = 0; o < O; o++) sum += dy[start + o] * weight[w + o];
      dx[to] = sum;
    }
  }
  return dx;
}

// dx = r (g - mean(g) - n mean(g n)): ops/layer_norm.py, eq. 6.
function layerNormBackward(dy, x, weight, eps) {
  const D = weight.length;
  const dx = new Float64Array(x.length);
  const meanOf = (f) => {
    let sum = 0;
    for (let d = 0; d < D; d++) sum += f(d);
    return sum / D;
  };
  for (let start = 0; start < x.length; start += D) {
    const mean = meanOf((d) => x[start + d]);
    const r = 1 / Math.sqrt(meanOf((d) => (x[start + d] - mean) ** 2) + eps);
    const n = (d) => (x[start + d] - mean) * r;
    const g = (d) => dy[start + d] * weight[d];
    const [meanG, meanGN] = [meanOf(g), meanOf((d) => g(d) * n(d))];
    for (let d = 0; d < D; d++) dx[start + d] = r * (g(d) - meanG - n(d) * meanGN);
  }
  return dx;
}

// dy times the slope of GELU: ops/gelu.py, eq. 4 ("exact") or eq. 5 ("tanh").
function geluBackward(dy, x, form) {
  const exact = (z) => (1 + erf(z / Math.SQRT2)) / 2 + (z * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
  const c = 2 * Math.sqrt(2 / Math.PI);
  const tanh = (z) => {
    const s = 1 / (1 + Math.exp(-c * (z + 0.044715 * z ** 3)));
    return s + z * s * (1 - s) * c * (1 + 3 * 0.044715 * z * z);
  };
  const slope = form === "exact" ? exact : tanh;
  return dy.map((each, i) => each * slope(x[i]));
}

// From dO (N, D), that of what the heads drew, to the gradients of A and S (H, N, N) and of q k v (N, 3D):
// ops/attention.py, eq. 7 to 9. A head that is off passes nothing.
function attentionBackward(dO, qkv, A, H, relative, off) {
  const N = Math.sqrt(A.length / H);
  const D = dO.length / N;
  const K = D / H;
  const [dA, dS, dqkv] = [A.length, A.length, qkv.length].map((size) => new Float64Array(size));
  for (let h = 0; h < H; h++) {
    if (off(h)) continue;
    for (let i = 0; i < N; i++) {
      const row = (h * N + i) * N;
      const q = i * 3 * D + h * K;
      const o = i * D + h * K;
      let sum = 0;
      for (let j = 0; j < N; j++) {
        const v = j * 3 * D + 2 * D + h * K;
        for (let k = 0; k < K; k++) {
          dA[row + j] += dO[o + k] * qkv[v + k]; // eq. 7
          dqkv[v + k] += A[row + j] * dO[o + k];
        }
        sum += dA[row + j] * A[row + j];
      }
      for (let j = 0; j < N; j++) {
        const key = j * 3 * D + D + h * K;
        const r = (N - 1 - i + j) * K; // of the offset i - j, as in scores()
        dS[row + j] = A[row + j] * (dA[row + j] - sum); // eq. 8
        const d = dS[row + j] / Math.sqrt(K);
        for (let k = 0; k < K; k++) {
          dqkv[q + k] += d * (qkv[key + k] + (relative ? relative[r + k] : 0)); // eq. 9
          dqkv[key + k] += d * qkv[q + k];
        }
      }
    }
  }
  return { dA, dS, dqkv };
}

// Back to the tokens that were read: ops/pooling.py, eq. 4 (class token) or eq. 5 (mean).
function poolingBackward(dy, N, pool) {
  const dx = new Float64Array(N * dy.length);
  if (pool === "token") dx.set(dy);
  else dx.forEach((_, i) => (dx[i] = dy[i % dy.length] / N));
  return dx;
}

// Each patch's gradient goes where the patch came from; what was covered had no say.
function changedBackward(dy, T, { order, covered = [] }) {
  const size = dy.length / T;
  const dx = new Float64Array(dy.length);
  for (let p = 0; p < T; p++) {
    if (!covered.includes(p)) dx.set(dy.subarray(p * size, (p + 1) * size), (order?.[p] ?? p) * size);
  }
  return dx;
}

// patchify the other way round: ops/patches.py, eq. 2.
function unpatchify(dy, width, P) {
  const places = patchify(Float64Array.from(dy.keys()), width, P);
  const dx = new Float64Array(dy.length);
  places.forEach((place, i) => (dx[place] = dy[i]));
  return dx;
}
