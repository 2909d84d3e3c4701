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
