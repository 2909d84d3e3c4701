// The answer: a bar for each class, with a mark where it would be without the changes.

const MOST_BARS = 10;

function setUpAnswer() {
  const count = Math.min(model.classes.length, MOST_BARS);
  byId("bars").classList.toggle("many", model.classes.length > MOST_BARS);
  for (let i = 0; i < count; i++) {
    const track = make(
      "span",
      { className: "track" },
      make("span", { className: "bar" }),
      make("span", { className: "mark" }),
    );
    byId("bars").append(
      make("li", {}, make("span", { className: "name" }), track, make("span", { className: "percent" })),
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
