// The position embedding that is added to the tokens: tinyvit/model/positions.py and ops/position_tables.py.

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
