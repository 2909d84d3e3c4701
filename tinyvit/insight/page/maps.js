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

const COLUMNS = [...Array(HEADS).keys(), "mean", "rollout"];

function setUpMaps({ state, run, redraw }) {
  const names = COLUMNS.map((column) => (typeof column === "number" ? `head ${column + 1}` : column));
  const head = names.map((name) => make("th", { scope: "col" }, name));
  head.splice(HEADS, 0, make("td", { className: "apart" }));
  byId("grid").append(make("thead", {}, make("tr", {}, make("th", {}, "block"), ...head)));
  const body = make("tbody");
  for (let block = 0; block < model.config.layers; block++) {
    const cells = COLUMNS.map((column) => {
      const canvas = make("canvas", { width: ACROSS, height: DOWN });
      const button = make("button", { type: "button", "aria-pressed": "false" }, canvas);
      button.addEventListener("click", () => {
        state.shown = { block, column };
        redraw();
      });
      return make("td", {}, button);
    });
    cells.splice(HEADS, 0, make("td", { className: "apart" }));
    body.append(make("tr", {}, make("th", { scope: "row" }, String(block + 1)), ...cells));
  }
  byId("grid").append(body);
  byId("grid").style.minWidth = `${COLUMNS.length * 44}px`;
  moveWithArrows(body, () => COLUMNS.length);
  byId("measures").addEventListener("change", (event) => {
    state.measure = event.target.value;
    redraw();
  });
  byId("switch").addEventListener("click", () => {
    const heads = headsShown(state);
    const turnOn = heads.every((head) => state.off.has(head));
    for (const head of heads) turnOn ? state.off.delete(head) : state.off.add(head);
    run();
  });
  byId("ramp").style.background =
    `linear-gradient(to right, ${model.heat.map((rgb) => `rgb(${rgb})`).join(", ")})`;
  byId("ticks").append(...["1/8", "1/4", "1/2", "1", "2", "4", "8"].map((tick) => make("span", {}, tick)));
}

// The heads that the chosen map belongs to, as "block.head".
function headsShown({ shown: { block, column } }) {
  if (column === "rollout") return [];
  const heads = column === "mean" ? [...Array(HEADS).keys()] : [column];
  return heads.map((h) => `${block}.${h}`);
}

function drawMaps(state) {
  byId("asked").textContent =
    state.query === "answer"
      ? HAS_TOKEN
        ? "What the class token, from which the answer is made, draws from each patch."
        : "What all patches together, whose mean is the answer, draw from each patch."
      : `What the patch in ${placeName(state.query)} draws from each patch.`;
  [...byId("grid").tBodies[0].rows].forEach((row, block) => {
    row.querySelectorAll("button").forEach((button, i) => {
      const column = COLUMNS[i];
      putPixels(button.firstChild, heatPixels(mapOf(state, block, column).shares));
      const isOff = typeof column === "number" && state.off.has(`${block}.${column}`);
      button.classList.toggle("off", isOff);
      const isShown = block === state.shown.block && column === state.shown.column;
      button.setAttribute("aria-pressed", String(isShown));
      button.setAttribute("aria-label", `${mapName(block, column)}${isOff ? ", off" : ""}`);
    });
  });
  drawLarge(state);
}

function mapName(block, column) {
  if (column === "mean") return `Block ${block + 1}, mean of the heads`;
  if (column === "rollout") return `Rollout through block ${block + 1}`;
  return `Block ${block + 1}, head ${column + 1}`;
}

// The chosen map over the picture in grey, and in words.
function drawLarge(state) {
  const { block, column } = state.shown;
  const { shares, token, any } = mapOf(state, block, column);
  const canvas = byId("map");
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(canvasOf(inGrey(seenPixels(state)), WIDTH, HEIGHT), 0, 0, canvas.width, canvas.height);
  context.globalAlpha = 0.7;
  context.drawImage(canvasOf(heatPixels(shares), ACROSS, DOWN), 0, 0, canvas.width, canvas.height);
  context.globalAlpha = 1;
  if (state.query !== "answer") frame(context, state.query, model.config.patch_size * SIDE);

  const most = shares.indexOf(Math.max(...shares));
  const fromToken = HAS_TOKEN ? `${percent(token)} comes from the class token. ` : "";
  const text = any
    ? `${mapName(block, column)}. ${fromToken}Of the patches, most comes from ${placeName(most)}: ` +
      `${shares[most].toFixed(1)} times an even share.`
    : `${mapName(block, column)}. Nothing is drawn: its heads are off.`;
  byId("caption").textContent = text;
  sayWhenQuiet(byId("caption-said"), text);
  drawSwitch(state);
}

function drawSwitch(state) {
  const { block, column } = state.shown;
  const heads = headsShown(state);
  const isOff = heads.length > 0 && heads.every((head) => state.off.has(head));
  const what =
    column === "mean" ? `all heads of block ${block + 1}` : `head ${column + 1} of block ${block + 1}`;
  byId("switch").textContent = heads.length
    ? `Switch ${isOff ? "on" : "off"} ${what}`
    : "Rollout is of all heads";
  byId("switch").disabled = !heads.length;
}
