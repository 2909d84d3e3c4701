// The answer: a bar for each class, with a mark where it would be without the changes.

const MOST_BARS = 10;

function setUpAnswer() {
  const count = Math.min(model.classes.length, MOST_BARS);
  byId("bars").classList.toggle("many", model.classes.length > MOST_BARS);
  for (let i = 0; i < count; i++) {
    const span = (className, ...contents) => make("span", { className }, ...contents);
    byId("bars").append(
      make("li", {}, span("name"), span("track", span("bar"), span("mark")), span("percent")),
    );
  }
}

function drawAnswer(state) {
  const { probabilities, unchanged } = state.result;
  const first = probabilities.indexOf(Math.max(...probabilities));
  const before = unchanged.indexOf(Math.max(...unchanged));
  const isChanged = hasChanges(state);
  // Few classes keep their places; of many, the most likely ones are shown.
  const classes = Array.from(probabilities.keys());
  const shown =
    classes.length <= MOST_BARS ? classes : classes.sort((a, b) => probabilities[b] - probabilities[a]);
  [...byId("bars").children].forEach((row, i) => {
    const c = shown[i];
    row.classList.toggle("first", c === first);
    row.querySelector(".name").textContent = row.title = model.classes[c];
    row.querySelector(".percent").textContent = percent(probabilities[c]);
    row.querySelector(".bar").style.width = `${100 * probabilities[c]}%`;
    row.querySelector(".mark").style.left = `${100 * unchanged[c]}%`;
    row.querySelector(".mark").hidden = !isChanged;
  });
  for (const place of [byId("headline"), byId("pocket")]) {
    place.querySelector("b").textContent = model.classes[first];
    place.querySelector("span").textContent = percent(probabilities[first]);
  }
  const without = `without your changes: ${model.classes[before]}, ${percent(unchanged[before])}`;
  byId("before").textContent = isChanged ? without : truth(state, first);
  byId("time").textContent = `${state.result.milliseconds.toFixed(0)} ms`;
  const said = `${model.classes[first]}, ${percent(probabilities[first])}`;
  sayWhenQuiet(byId("said"), isChanged ? `${said}; ${without}` : said);
}

// The class that a sample was filed under, and whether the model agrees.
function truth(state, first) {
  if (state.sample === null) return "";
  const label = model.samples.labels[state.sample];
  if (label < 0) return ""; // it has none
  return label === first ? "right" : `wrong: the sample is labelled ${model.classes[label]}`;
}

function hasChanges(state) {
  return Boolean(state.order || state.covered.size || state.off.size || !state.positions);
}

// What can be taken away: the order of the patches, the position embedding, heads.

function setUpExperiments({ state, run }) {
  const press = (id, act) => byId(id).addEventListener("click", () => (act(), run()));
  press("shuffle", () => (state.order = state.order ? null : shuffled(PATCHES)));
  press("positions", () => (state.positions = !state.positions));
  press("heads-on", () => state.off.clear());
  press("restore", () => {
    state.order = null;
    state.positions = true;
    state.off.clear();
    state.covered.clear();
  });
  if (model.config.position === "none") byId("positions").textContent = "It has no position embedding";
}

function drawExperiments(state) {
  byId("shuffle").setAttribute("aria-pressed", String(Boolean(state.order)));
  byId("positions").setAttribute("aria-pressed", String(!state.positions));
  byId("positions").disabled = model.config.position === "none";
  byId("heads-on").disabled = !state.off.size;
  byId("restore").disabled = !hasChanges(state);
  const count = (number, one, many) => (number ? [`${number} ${number === 1 ? one : many}`] : []);
  const changes = [
    ...count(state.covered.size, "patch covered", "patches covered"),
    ...(state.order ? ["patches shuffled"] : []),
    ...(state.positions ? [] : ["no position embedding"]),
    ...count(state.off.size, "head off", "heads off"),
  ];
  byId("changes").textContent = changes.length ? `Changed: ${changes.join(", ")}.` : "Nothing is changed.";
}

// The numbers from 0 to count - 1 in random order (Fisher and Yates).
function shuffled(count) {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}
