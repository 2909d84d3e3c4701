// From attention matrices to maps: how much the chosen token draws from each patch.

const { heads: HEADS, tokens: TOKENS, patches: PATCHES } = model.config;
const HAS_TOKEN = TOKENS > PATCHES;
const NAME_OF_ANSWER = HAS_TOKEN ? "the class token" : "all patches";

// What is drawn from each token (N,). column is a head, the "mean" of the block's heads, or "rollout".
function drawnFrom(state, block, column) {
  const { attention, lengths, rollout } = state.result;
  const drawn = new Float64Array(TOKENS);
  for (const i of queries(state)) {
    if (column === "rollout") {
      for (let j = 0; j < TOKENS; j++) drawn[j] += rollout[block][i * TOKENS + j];
      continue;
    }
    const on = (h) => !state.off.has(`${block}.${h}`);
    for (const h of column === "mean" ? [...Array(HEADS).keys()].filter(on) : [column]) {
      for (let j = 0; j < TOKENS; j++) {
        const length = state.measure === "values" ? lengths[block][h * TOKENS + j] : 1;
        drawn[j] += attention[block][(h * TOKENS + i) * TOKENS + j] * length;
      }
    }
  }
  return drawn;
}

// The rows of the attention matrices that are asked about.
function queries(state) {
  if (state.query !== "answer") return [state.query + TOKENS - PATCHES];
  return HAS_TOKEN ? [0] : Array.from({ length: TOKENS }, (_, i) => i);
}

// shares (T,) of the patches, beside an even share of what they get together; and the share of the class
// token in all.
function mapOf(state, block, column) {
  const drawn = drawnFrom(state, block, column);
  const patches = drawn.subarray(TOKENS - PATCHES);
  const sum = patches.reduce((total, each) => total + each, 0);
  const shares = patches.map((each) => (sum ? (each / sum) * PATCHES : 0));
  return { shares, token: HAS_TOKEN && sum + drawn[0] ? drawn[0] / (sum + drawn[0]) : 0, any: sum > 0 };
}
