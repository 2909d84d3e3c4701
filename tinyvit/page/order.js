// The steps of this model, in the order in which they are carried out.

// Each step is what explain.js says of it, the name of its array in the forward pass, and the part it is in.
function stepsOf(c) {
  const blocks = Array.from({ length: c.layers }, (_, i) => stepsOfBlock(c, i)).flat();
  return [...stepsOfStem(c), ...blocks, ...stepsOfReadout(c)];
}

function stepsOfStem(c) {
  const names = ["pixels", "patches", "embedded", ...(c.tokens > c.patches ? ["token"] : [])];
  if (c.position_at === "stem") names.push("positions");
  return names.map((name) => explained(c, name, "", "Stem"));
}

function stepsOfBlock(c, i) {
  const added = c.position_at !== "stem" && !["none", "relative"].includes(c.position);
  const names = [
    ...(added ? ["positions"] : []),
    ...["norm1", "qkv", "scores", "weights", "heads", "attention", "skip1"],
    ...["norm2", "wide", "gelu", "mlp", "skip2"],
  ];
  return names.map((name) => explained(c, name, `blocks.${i}.`, `Block ${i + 1} of ${c.layers}`));
}

function stepsOfReadout(c) {
  const names = ["norm", "pooled", ...(c.pre_logits ? ["pre_logits"] : []), "logits", "probabilities"];
  return names.map((name) => explained(c, name, "", "Readout"));
}

// Some steps have variants, which have explanations of their own.
function explained(c, name, prefix, part) {
  const variant = { positions: c.position, gelu: c.gelu, pooled: c.pool }[name];
  return { ...(EXPLAINED[`${name}_${variant}`] ?? EXPLAINED[name]), name: prefix + name, part };
}
