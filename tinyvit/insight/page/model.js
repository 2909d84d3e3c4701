// The Vision Transformer, from pixels to logits: the forward pass of tinyvit/model, with your changes.

// changes, all of them optional:
//   order       a list of patch numbers: position p shows patch order[p] of the picture
//   covered     numbers of positions that show plain grey
//   positions   false leaves out the position embedding of the patches
//   off         a list of "block.head" for the heads that are switched off, both counted from 0
// see(name, array, shape) is called with everything that is computed on the way.
function forward(model, pixels, changes = {}, see = () => {}) {
  const { config: c, params } = model;
  const { patches: T, tokens: N, width: D } = c;
  const keepPositions = changes.positions !== false;
  const off = new Set(changes.off || []);

  const image = normalise(pixels); // (H, W, 3)
  see("pixels", image, [...c.image_size, 3]);
  const patches = changed(patchify(image, c.image_size[1], c.patch_size), T, changes); // (T, P P 3)
  see("patches", patches, [T, patches.length / T]);
  const embedded = linear(patches, params["patch.weight"], params["patch.bias"]); // (T, D)
  see("embedded", embedded, [T, D]);
  let x = embedded;
  if (N > T) {
    x = new Float32Array(N * D); // (N, D)
    x.set(params["class_token"]);
    x.set(embedded, D);
    see("token", x, [N, D]);
  }
  x = withPositions(model, x, null, keepPositions, see); // ViT eq. 1

  const seen = { attention: [], lengths: [] };
  for (let i = 0; i < c.layers; i++) x = block(model, i, x, keepPositions, off, seen, see); // ViT eq. 2 and 3

  x = layerNorm(x, params["norm.weight"], params["norm.bias"], c.eps); // (N, D)
  see("norm", x, [N, D]);
  let features = c.pool === "token" ? x.slice(0, D) : meanRows(x, D); // (D,)   ViT eq. 4
  see("pooled", features, [D]);
  if (c.pre_logits) {
    features = linear(features, params["pre_logits.weight"], params["pre_logits.bias"]).map(Math.tanh);
    see("pre_logits", features, [c.pre_logits]);
  }
  const logits = linear(features, params["head.weight"], params["head.bias"]); // (C,)
  see("logits", logits, [c.classes]);
  const probabilities = softmaxRows(logits.slice(), c.classes); // (C,)
  see("probabilities", probabilities, [c.classes]);
  return { logits, probabilities, ...seen };
}

// Block i: x' = x + attention(LayerNorm(x)), y = x' + MLP(LayerNorm(x')): model/block.py, eq. 1 and 2.
function block(model, i, x, keepPositions, off, seen, see) {
  const { config: c, params } = model;
  const p = (name) => params[`blocks.${i}.${name}`];
  const { tokens: N, width: D, heads: H, mlp_width: M } = c;
  const show = (name, array, ...shape) => see(`blocks.${i}.${name}`, array, shape);

  x = withPositions(model, x, i, keepPositions, see);
  const n1 = layerNorm(x, p("norm1.weight"), p("norm1.bias"), c.eps); // (N, D)
  show("norm1", n1, N, D);
  const weights = ["qkv.weight", "qkv.bias", "out.weight", "out.bias"].map((name) => p(`attn.${name}`));
  const relative = keepPositions ? relativeTable(model, i) : null;
  const a = attention(n1, weights, H, relative, (h) => off.has(`${i}.${h}`));
  seen.attention.push(a.A);
  seen.lengths.push(a.lengths);
  show("qkv", a.qkv, N, 3 * D);
  show("scores", a.S, H, N, N);
  show("weights", a.A, H, N, N);
  show("heads", a.o, N, D);
  show("attention", a.y, N, D);
  x = add(x, a.y); // (N, D)   eq. 1
  show("skip1", x, N, D);

  const n2 = layerNorm(x, p("norm2.weight"), p("norm2.bias"), c.eps); // (N, D)
  show("norm2", n2, N, D);
  const h = linear(n2, p("mlp.fc1.weight"), p("mlp.fc1.bias")); // (N, M): ops/mlp.py, eq. 1
  show("wide", h, N, M);
  const g = gelu(h, c.gelu); // (N, M)                               eq. 2
  show("gelu", g, N, M);
  const m = linear(g, p("mlp.fc2.weight"), p("mlp.fc2.bias")); // (N, D)  eq. 3
  show("mlp", m, N, D);
  const y = add(x, m); // (N, D)   eq. 2
  show("skip2", y, N, D);
  return y;
}

// Tokens x with what is added before block i, or at the stem. Without positions, only the class token keeps
// its own.
function withPositions(model, x, i, keepPositions, see) {
  const table = positionTable(model, i);
  if (!table) return x;
  const { tokens: N, patches: T, width: D } = model.config;
  const y = add(x, keepPositions ? table : table.slice(0, (N - T) * D)); // ops/embedding.py, eq. 1
  see(i === null ? "positions" : `blocks.${i}.positions`, y, [N, D]);
  return y;
}

// The patches (T, P P 3) in another order, with the covered ones grey: 0 is between black and white.
function changed(patches, T, { order, covered = [] }) {
  const size = patches.length / T;
  const y = patches.slice();
  if (order) order.forEach((from, p) => y.set(patches.subarray(from * size, (from + 1) * size), p * size));
  for (const p of covered) y.fill(0, p * size, (p + 1) * size);
  return y;
}

// Positions: tinyvit/model/later/positions.py and ops/position_tables.py.

// The table (N, D) that is added before block i, or at the stem if i is null; null if nothing is added there.
function positionTable(model, i) {
  const { config: c, params } = model;
  const atStem = c.position_at === "stem";
  if (c.position === "none" || c.position === "relative" || atStem !== (i === null)) return null;
  const part = c.position_at === "blocks" ? `blocks.${i}.position` : "position";
  if (c.position === "1d") return params[part];
  const vector =
    c.position === "2d"
      ? (r, column, d) =>
          learned(params[`${part}.rows`], params[`${part}.columns`], c.width / 2, r, column, d)
      : (r, column, d) => waves(c.width / 4, r, column, d);
  const table = new Float32Array(c.tokens * c.width); // the class token keeps a row of zeros
  for (let patch = 0; patch < c.patches; patch++) {
    const row = patch + c.tokens - c.patches;
    for (let d = 0; d < c.width; d++) {
      table[row * c.width + d] = vector(Math.floor(patch / c.grid[1]), patch % c.grid[1], d);
    }
  }
  return table;
}

// Half from a vector of the row, half from one of the column: ops/position_tables.py, eq. 1.
function learned(rows, columns, half, r, column, d) {
  return d < half ? rows[r * half + d] : columns[column * half + d - half];
}

// Sines and cosines of column and row at F frequencies: ops/position_tables.py, eq. 2.
function waves(F, r, column, d) {
  const w = 10000 ** (-(d % F) / Math.max(F - 1, 1));
  const angle = w * (d < 2 * F ? column : r);
  return Math.floor(d / F) % 2 ? Math.cos(angle) : Math.sin(angle);
}

// The table of relative positions that block i reads, if the model has one.
function relativeTable(model, i) {
  const { config: c, params } = model;
  if (c.position !== "relative") return null;
  return params[c.position_at === "blocks" ? `blocks.${i}.position` : "position"];
}
