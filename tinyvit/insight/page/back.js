// The way back: the gradient of the loss, sent from the logits to the pixels.

// Where it is shown as a small map: after each block, the last one first, at the patches, and at the pixels.
const STOPS = STEPS.map(({ name }, step) => ({ name, step }))
  .filter(({ name }) => /skip2$|^embedded$|^pixels$/.test(name))
  .reverse();
const PACE = Math.min(160, 8000 / STEPS.length); // milliseconds for a step

function setUpBack(app) {
  const { state, run } = app;
  model.classes.forEach((name, value) => byId("target").append(make("option", { value }, name)));
  byId("target").addEventListener("change", ({ target }) => {
    state.target = target.value === "" ? null : Number(target.value);
    run();
  });
  byId("ways").addEventListener("change", (event) => {
    stopSending(state);
    turn(app, event.target.value === "back", state.step);
  });
  byId("send").addEventListener("click", () => sendBack(app));
  if (HAS_TOKEN) byId("last-block").textContent = "After the last block, all of it is the class token's.";
  for (const { name, step } of STOPS) {
    const [width, height] = name === "pixels" ? [WIDTH, HEIGHT] : [ACROSS, DOWN];
    const label = { embedded: "Patches", pixels: "Pixels" }[name] ?? STEPS[step].part.replace(/ of .*/, "");
    const button = make("button", { type: "button" }, make("canvas", { width, height }), label);
    button.addEventListener("click", () => {
      stopSending(state);
      goTo(app, step);
    });
    byId("stops").append(button);
  }
}

function turn(app, back, step) {
  app.state.back = back;
  goTo(app, step);
}

// From the logits to the pixels, a step at a time, or at once for those whom movement disturbs.
function sendBack(app) {
  const { state } = app;
  stopSending(state);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  turn(app, true, still ? 0 : lastStep({ back: true }));
  openPanel(byId("h-steps").parentNode);
  const behavior = still ? "auto" : "smooth";
  requestAnimationFrame(() => byId("h-steps").scrollIntoView({ block: "start", behavior })); // once drawn
  if (still) return;
  state.sending = setInterval(() => {
    if (done < asked || planned) return; // the last step is not shown yet
    if (state.step) return goTo(app, state.step - 1);
    stopSending(state);
    app.redraw();
  }, PACE);
}

function stopSending(state) {
  clearInterval(state.sending);
  state.sending = null;
}

function drawBack(state) {
  document.querySelector(`[name=way][value=${state.back ? "back" : "there"}]`).checked = true;
  byId("return").hidden = !state.back;
  if (!state.back || !state.result.arrived) return;
  STOPS.forEach(({ name, step }, i) => {
    const button = byId("stops").children[i];
    button.classList.toggle("ahead", state.sending !== null && step < state.step);
    button.setAttribute("aria-pressed", String(step === state.step));
    putPixels(button.firstChild, arrivalPixels(state, name));
  });
  if (state.sending !== null) return;
  const lengths = state.result.arrived.pixels;
  const sums = Array(PATCHES).fill(0);
  lengths.forEach((length, i) => (sums[patchAt({ x: i % WIDTH, y: Math.floor(i / WIDTH) })] += length));
  byId("arrived").textContent = `Of the patches, the loss depends most on ${placeName(sums.indexOf(Math.max(...sums)))}.`;
}

// The colours of a small map: of pixels, up to the strongest; of tokens, beside an even share of what the
// patches get together.
function arrivalPixels(state, name) {
  const lengths = state.result.arrived[name];
  if (name === "pixels") {
    const most = lengths.reduce((a, b) => Math.max(a, b), 0) || 1;
    return Uint8Array.from(lengths.map((length) => heatColour(Math.sqrt(length / most))).flat());
  }
  const patches = lengths.slice(-PATCHES);
  const sum = patches.reduce((total, each) => total + each, 0) || 1;
  return heatPixels(patches.map((each) => (each / sum) * PATCHES));
}
