// Every step from pixels to logits: what it does, and where to read about it.
//
// A name is that of the array in the forward pass. source is a file of tinyvit/ and an equation of its
// docstring, lesson the folder of lessons/ that derives it, if one does. The letters of shape are those of
// tinyvit: T patches, N tokens, D width, H heads, M width of the MLP, C classes. back is the way of the gradient
// through the step, to what it was made from; in its formulas, dy is the gradient that arrives at y.

const EXPLAINED = {
  pixels: {
    title: "Pixels", shape: "(H, W, 3)", lesson: 0, source: "data/augment.py",
    formula: "x = (byte - 127.5) / 127.5",
    text: "Bytes from 0 to 255 become numbers from -1 to 1.",
  },
  patches: {
    title: "Patches", shape: "(T, P P 3)", lesson: 5, source: "ops/patches.py, eq. 1",
    formula: "y[patch, (p P + q) 3 + k] = x[pixel (p, q) of the patch, channel k]",
    text: "The picture is cut into squares, and each is laid out as a row of numbers.",
    back: { lesson: 5, source: "ops/patches.py, eq. 2", formula: "dx = Q^T dy",
      text: "Each number goes back to the pixel that it was copied from: the saliency of the picture." },
  },
  embedded: {
    title: "Patch embedding", shape: "(T, D)", lesson: 3, source: "ops/linear.py, eq. 1",
    formula: "y = x W + b",
    text: "One matrix turns every patch into a token: a vector of the model's width.",
    back: { lesson: 3, source: "ops/linear.py, eq. 2", formula: "dx = dy W^T",
      text: "Through the same matrix, the other way round." },
  },
  token: {
    title: "Class token", shape: "(N, D)", lesson: 5, source: "ops/embedding.py, eq. 1",
    formula: "z = [t; x_1; ...; x_T]",
    text: "A learned vector comes before them. What it gathers will be the answer.",
    back: { lesson: 5, source: "ops/embedding.py, eq. 3", formula: "dx_j = dz_j",
      text: "Each patch keeps its gradient. What reached the class token would train that vector." },
  },
  positions: {
    title: "Positions", shape: "(N, D)", lesson: 5, source: "ops/embedding.py, eq. 1",
    formula: "z = x + E",
    text: "A learned vector is added at every position. Without it, attention sees a set in no order.",
    back: { lesson: 5, source: "ops/embedding.py, eq. 3", formula: "dx_j = dz_j",
      text: "A sum passes its gradient on as it is." },
  },
  positions_2d: {
    title: "Positions", shape: "(N, D)", lesson: 21, source: "ops/position_tables.py, eq. 1",
    formula: "e_(r, c) = [a_r, b_c]",
    text: "Half a vector for its row and half for its column is added to every patch.",
  },
  positions_sincos: {
    title: "Positions", shape: "(N, D)", lesson: 21, source: "ops/position_tables.py, eq. 2",
    formula: "e_(r, c) = [sin(w c), cos(w c), sin(w r), cos(w r)]",
    text: "Sines and cosines of its row and column are added to every patch.",
  },
  norm1: {
    title: "LayerNorm", shape: "(N, D)", lesson: 7, source: "ops/layer_norm.py, eq. 2",
    formula: "y = (x - mean) / sqrt(var + eps) * weight + bias",
    text: "Each token is shifted to mean 0 and scaled to variance 1, then given a gain and an offset.",
    back: { lesson: 7, source: "ops/layer_norm.py, eq. 6", formula: "dx = dy + r (g - mean(g) - n mean(g n))",
      text: "Two ways back meet: dy came past attention by the skip connection, the rest through attention." },
  },
  qkv: {
    title: "Queries, keys, values", shape: "(N, 3D)", lesson: 6, source: "ops/attention.py, eq. 1",
    formula: "q = x Wq + bq      k = x Wk + bk      v = x Wv + bv",
    text: "For each head, every token asks a question, advertises what it knows, and carries an answer.",
    back: { lesson: 6, source: "ops/attention.py, eq. 10", formula: "dx = [dq dk dv] [Wq Wk Wv]^T",
      text: "What a token asked, advertised and carried: all three ways lead back to it, and add up." },
  },
  scores: {
    title: "Scores", shape: "(H, N, N)", lesson: 6, source: "ops/attention.py, eq. 2",
    formula: "S = q k^T / sqrt(K)",
    text: "How well the query of a row matches the key of a column. One square for each head.",
    back: { lesson: 6, source: "ops/attention.py, eq. 9",
      formula: "dq = dS k / sqrt(K)      dk = dS^T q / sqrt(K)",
      text: "Queries get the keys that they met, keys the queries, and values, A^T do, what was drawn from them." },
  },
  weights: {
    title: "Attention", shape: "(H, N, N)", lesson: 6, source: "ops/attention.py, eq. 3",
    formula: "A = softmax of each row of S",
    text: "Each row becomes shares that sum to 1: how much a token draws from each other one.",
    back: { lesson: 6, source: "ops/attention.py, eq. 8", formula: "dS = A * (dA - row sums of dA * A)",
      text: "Back through softmax. Each row sums to 0: a share can only grow at the expense of others." },
  },
  heads: {
    title: "What was drawn", shape: "(N, D)", lesson: 6, source: "ops/attention.py, eq. 4",
    formula: "o = A v",
    text: "Every token mixes the values of all tokens by these shares. The heads stand side by side.",
    back: { lesson: 6, source: "ops/attention.py, eq. 7", formula: "dA = do v^T",
      text: "A share matters as much as the value that it brings agrees with what is wanted." },
  },
  attention: {
    title: "Heads joined", shape: "(N, D)", lesson: 6, source: "ops/attention.py, eq. 5",
    formula: "y = [o of head 1, ..., o of head H] Wo + bo",
    text: "One more matrix mixes what the heads have found.",
    back: { lesson: 6, source: "ops/attention.py, eq. 6", formula: "do = dy Wo^T",
      text: "Each head gets its part back, through the matrix that mixed them." },
  },
  skip1: {
    title: "Skip connection", shape: "(N, D)", lesson: 8, source: "model/block.py, eq. 1",
    formula: "x' = x + attention(LayerNorm(x))",
    text: "The token as it came in is kept, and what attention found is added.",
    back: { lesson: 8, source: "model/block.py, eq. 3", formula: "dx = dy + (gradient of f at dy)",
      text: "A sum hands its gradient to both of its terms. On this one, the way through f begins." },
  },
  norm2: {
    title: "LayerNorm", shape: "(N, D)", lesson: 7, source: "ops/layer_norm.py, eq. 2",
    formula: "y = (x - mean) / sqrt(var + eps) * weight + bias",
    text: "The same normalisation again, before the MLP.",
    back: { lesson: 7, source: "ops/layer_norm.py, eq. 6", formula: "dx = dy + r (g - mean(g) - n mean(g n))",
      text: "Two ways back meet: dy came past the MLP by the skip connection, the rest through the MLP." },
  },
  wide: {
    title: "MLP: widen", shape: "(N, M)", lesson: 4, source: "ops/mlp.py, eq. 1",
    formula: "h = x W1 + b1",
    text: "Each token by itself is widened.",
    back: { lesson: 4, source: "ops/mlp.py, eq. 6", formula: "dx = dh W1^T",
      text: "Back through the matrix that widened." },
  },
  gelu: {
    title: "GELU", shape: "(N, M)", lesson: 4, source: "ops/gelu.py, eq. 2",
    formula: "y = x (1 + tanh(u)) / 2      u = sqrt(2/pi) (x + 0.044715 x^3)",
    text: "Negative numbers are nearly silenced, and positive ones pass.",
    back: { lesson: 4, source: "ops/mlp.py, eq. 5", formula: "dh = dg * GELU'(h)",
      text: "Where GELU silenced a number, it now silences the gradient." },
  },
  gelu_exact: {
    title: "GELU", shape: "(N, M)", lesson: 4, source: "ops/gelu.py, eq. 1",
    formula: "y = x Phi(x)",
    text: "Negative numbers are nearly silenced, and positive ones pass.",
  },
  mlp: {
    title: "MLP: narrow", shape: "(N, D)", lesson: 4, source: "ops/mlp.py, eq. 3",
    formula: "y = g W2 + b2",
    text: "Back to the model's width.",
    back: { lesson: 4, source: "ops/mlp.py, eq. 4", formula: "dg = dy W2^T",
      text: "Back through the matrix that narrowed." },
  },
  skip2: {
    title: "Skip connection", shape: "(N, D)", lesson: 8, source: "model/block.py, eq. 2",
    formula: "y = x' + MLP(LayerNorm(x'))",
    text: "Added to the token once more. This is what leaves the block.",
    back: { lesson: 8, source: "model/block.py, eq. 3", formula: "dx = dy + (gradient of f at dy)",
      text: "A sum hands its gradient to both of its terms. On this one, the way through f begins." },
  },
  norm: {
    title: "Last LayerNorm", shape: "(N, D)", lesson: 7, source: "ops/layer_norm.py, eq. 2",
    formula: "y = (x - mean) / sqrt(var + eps) * weight + bias",
    text: "All tokens are normalised a last time.",
    back: { lesson: 7, source: "ops/layer_norm.py, eq. 6",
      formula: "dx = r (g - mean(g) - n mean(g n))      g = dy * weight",
      text: "What would change a mean or a variance is taken out: the model would not have noticed." },
  },
  pooled: {
    title: "Pooling", shape: "(D,)", lesson: 8, source: "ops/pooling.py, eq. 1",
    formula: "y = x_0",
    text: "Of all tokens, only the class token is read. The others have done their work.",
    back: { lesson: 8, source: "ops/pooling.py, eq. 4", formula: "dx_0 = dy,   dx_j = 0",
      text: "Only the class token was read, so it gets everything. The patches have to wait for attention." },
  },
  pooled_mean: {
    title: "Pooling", shape: "(D,)", lesson: 8, source: "ops/pooling.py, eq. 2",
    formula: "y = (x_1 + ... + x_T) / T",
    text: "The tokens of all patches are averaged.",
    back: { lesson: 8, source: "ops/pooling.py, eq. 5", formula: "dx_j = dy / T",
      text: "Every patch had the same say, and gets the same share." },
  },
  pre_logits: {
    title: "Pre-logits", shape: "(F,)", source: "ops/tanh.py, eq. 1",
    formula: "y = tanh(x)",
    text: "One more linear layer, squashed to between -1 and 1.",
    back: { source: "ops/tanh.py, eq. 2", formula: "dx = dy (1 - y^2)",
      text: "Back through the squashing, and then through the matrix before it." },
  },
  logits: {
    title: "Logits", shape: "(C,)", lesson: 3, source: "ops/linear.py, eq. 1",
    formula: "y = x W + b",
    text: "A last matrix gives every class a score.",
    back: { lesson: 3, source: "ops/linear.py, eq. 2", formula: "dx = dy W^T",
      text: "What each number of the features did for the scores." },
  },
  probabilities: {
    title: "Probabilities", shape: "(C,)", lesson: 1, source: "ops/softmax.py, eq. 1",
    formula: "y_i = exp(x_i) / sum_j exp(x_j)",
    text: "Softmax turns the scores into probabilities: the bars.",
    back: { lesson: 1, source: "ops/cross_entropy.py, eq. 4", formula: "dz = p - t",
      text: "What was predicted minus what was wanted, t: 1 for the class, 0 for the others. It begins here." },
  },
};

// The steps of a model, in the order in which they are carried out. Each is what is explained above, the name
// of its array in the forward pass, and the part it is in.
function stepsOf(c) {
  const inBlocks = c.position_at !== "stem" && !["none", "relative"].includes(c.position);
  const stem = [
    ...["pixels", "patches", "embedded"],
    ...(c.tokens > c.patches ? ["token"] : []),
    ...(c.position_at === "stem" ? ["positions"] : []),
  ];
  const block = [
    ...(inBlocks ? ["positions"] : []),
    ...["norm1", "qkv", "scores", "weights", "heads", "attention", "skip1"],
    ...["norm2", "wide", "gelu", "mlp", "skip2"],
  ];
  const readout = ["norm", "pooled", ...(c.pre_logits ? ["pre_logits"] : []), "logits", "probabilities"];
  const steps = stem.map((name) => explained(c, name, "", "Stem"));
  for (let i = 0; i < c.layers; i++) {
    for (const name of block) steps.push(explained(c, name, `blocks.${i}.`, `Block ${i + 1} of ${c.layers}`));
  }
  return [...steps, ...readout.map((name) => explained(c, name, "", "Readout"))];
}

// Some steps have variants, which differ in what is said here.
function explained(c, name, prefix, part) {
  const variant = { positions: c.position, gelu: c.gelu, pooled: c.pool }[name];
  return { ...EXPLAINED[name], ...EXPLAINED[`${name}_${variant}`], name: prefix + name, part };
}
