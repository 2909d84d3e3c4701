// The page's state, and the conversation with the worker.

const state = {
  pixels: null, // (H, W, 3), bytes
  picture: 0, // a number that grows whenever the pixels change
  sample: null, // which sample it is, if it is one
  covered: new Set(), // positions
  order: null, // of the patches, if they are shuffled
  positions: true,
  off: new Set(), // "block.head"
  mode: "look",
  cursor: 0, // the patch that the keyboard is at
  query: "answer", // or the patch that is asked where it looks
  shown: { block: model.config.layers - 1, column: "mean" },
  measure: "attention",
  step: 0,
  back: false, // whether the gradients of the steps are shown
  target: null, // the class whose probability they are of, or null for the answer
  sending: null, // the timer of a gradient on its way
  colour: COLOURS.black,
  penWidth: 3,
  result: null, // of the last forward pass
};

const scripts = [...document.querySelectorAll("script.worker")].map((script) => script.textContent);
const source = new Blob(['"use strict";\n', ...scripts], { type: "text/javascript" });
const worker = new Worker(URL.createObjectURL(source));
let asked = 0; // runs asked for
let done = 0; // runs answered
let busy = true; // until the model is loaded

// Compute again. While the worker is busy, only the last wish counts.
function run() {
  asked += 1;
  redraw();
  send();
}

function send() {
  if (busy || done === asked) return;
  busy = true;
  const { covered, order, positions, off, back, target } = state;
  worker.postMessage({
    run: asked,
    pixels: state.pixels,
    picture: state.picture,
    changes: { covered: [...covered], order, positions, off: [...off] },
    watch: STEPS[state.step].name,
    back: back ? { target } : null,
  });
}

worker.onmessage = ({ data }) => {
  busy = false;
  if ("run" in data) {
    done = data.run;
    state.result = data;
    redraw();
  }
  send();
};

// Draw everything anew, once before the next picture of the screen.
let planned = false;
function redraw() {
  if (planned) return;
  planned = true;
  requestAnimationFrame(() => {
    planned = false;
    for (const draw of [drawCanvas, drawPen, drawSamples, drawExperiments]) draw(state);
    if (!state.result) return;
    for (const draw of [drawAnswer, drawMaps, drawBack, drawSteps]) draw(state);
  });
}

// Within a page of the course, this one is as tall as it needs to be, and shows one panel at a time.
function setUpFrame() {
  document.documentElement.classList.add("framed");
  const say = () => parent.postMessage({ height: document.body.offsetHeight }, "*");
  new ResizeObserver(say).observe(document.body);
  const tabs = make("fieldset", { className: "tabs" }, make("legend", { className: "unseen" }, "Panel"));
  for (const panel of document.querySelectorAll("[data-tab]")) {
    const radio = make("input", { type: "radio", name: "panel", value: panel.dataset.tab });
    radio.addEventListener("change", () => openPanel(panel));
    tabs.append(make("label", {}, radio, make("span", {}, panel.dataset.tab)));
  }
  const first = document.querySelector("[data-tab]");
  first.before(tabs);
  openPanel(first);
}

// Where panels have tabs, show this one.
function openPanel(panel) {
  for (const each of document.querySelectorAll("[data-tab]")) each.classList.toggle("open", each === panel);
  for (const radio of document.querySelectorAll("[name=panel]")) radio.checked = radio.value === panel.dataset.tab;
  redraw();
}

const app = { state, run, redraw };
byId("subtitle").textContent = model.subtitle;
setUpAnswer();
setUpCanvas(app);
setUpPen(app);
setUpPhotos(app);
setUpSamples(app);
setUpMaps(app);
setUpExperiments(app);
setUpSteps(app);
setUpBack(app);
if (parent !== window) setUpFrame();
worker.postMessage({ load: { config: model.config, rows: model.rows, weights: model.weights } });
if (SAMPLES.length) chooseSample(state, 0);
else blankSheet(state);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("resize", redraw);
for (const moved of ["focus", "blur"]) byId("picture").addEventListener(moved, redraw);
run();
