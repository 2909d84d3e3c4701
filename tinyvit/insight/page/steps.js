// The panel that goes from pixels to logits: one array after another, with its shape and its equation.

const STEPS = stepsOf(model.config);

// The gradient begins at the logits; otherwise the probabilities come last.
function lastStep(state) {
  return STEPS.length - (state.back ? 2 : 1);
}

function goTo({ state, run }, number) {
  state.step = Math.min(Math.max(number, 0), lastStep(state));
  run();
}

function setUpSteps(app) {
  const { state } = app;
  const go = (number) => {
    stopSending(state);
    goTo(app, number);
  };
  byId("step").addEventListener("input", (event) => go(Number(event.target.value)));
  for (const part of new Set(STEPS.map((step) => step.part))) {
    const name = part.replace(/Block (\d+) of.*/, "$1");
    const button = make("button", { type: "button", "aria-label": part, "aria-pressed": "false" }, name);
    button.addEventListener("click", () => go(STEPS.findIndex((step) => step.part === part)));
    byId("parts").append(button);
  }
  byId("back").addEventListener("click", () => go(state.step - 1));
  byId("on").addEventListener("click", () => go(state.step + 1));
}

function drawSteps(state) {
  const { watched } = state.result;
  const step = STEPS[state.step];
  if (watched.name !== step.name || watched.back !== state.back) return; // its array is on the way
  const shape = `${step.shape} = (${watched.shape.join(", ")})`;
  const told = state.back ? STEPS[state.step + 1].back : step; // by the step that it comes back through
  byId("step-title").textContent = `${step.part} · ${step.title}${state.back ? ", the gradient" : ""}`;
  byId("step-text").textContent = told.text;
  byId("step-formula").textContent = told.formula;
  const lesson = "lesson" in told ? [" · ", linkToLesson(told.lesson)] : [];
  const number = ` · step ${state.step + 1} of ${STEPS.length}`;
  byId("step-source").replaceChildren(`tinyvit/${told.source}`, ...lesson, number);
  byId("step").max = lastStep(state);
  byId("step").value = state.step;
  for (const button of byId("parts").children) {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-label") === step.part));
  }
  byId("step").setAttribute("aria-valuetext", `${step.part}, ${step.title}`);
  byId("back").disabled = state.step === 0;
  byId("on").disabled = state.step === lastStep(state);
  byId("step-numbers").textContent = `${shape} · ${numbersOf(watched.array)}`;
  byId("array").setAttribute("aria-label", `${step.title}, shape ${shape}`);
  drawArray(watched, state);
}

// The lesson's page, if this page stands beside those of the course.
function linkToLesson(number) {
  const address = model.lessons?.[number];
  return address ? make("a", { href: address, target: "_top" }, `lesson ${number}`) : `lesson ${number}`;
}

function numbersOf(array) {
  const meanOf = (f) => array.reduce((sum, x) => sum + f(x), 0) / array.length;
  const [low, high] = [Math.min, Math.max].map((most) => array.reduce((a, x) => most(a, x)));
  const mean = meanOf((x) => x);
  const deviation = Math.sqrt(Math.max(meanOf((x) => x * x) - mean * mean, 0));
  const short = (x) => String(Number(x.toPrecision(3)));
  return `mean ${short(mean)}, standard deviation ${short(deviation)}, from ${short(low)} to ${short(high)}`;
}

// An array as a picture. Rows are tokens; squares side by side are heads; the pixels are the picture itself, and
// beside it, if it has arrived there, how long the gradient is.
function drawArray({ name, array, shape, back }, state) {
  const canvas = byId("array");
  const context = canvas.getContext("2d");
  [canvas.width, canvas.height] = [2 * canvas.clientWidth, 2 * canvas.clientHeight];
  context.imageSmoothingEnabled = false;
  if (name === "pixels") {
    const pictures = [state.pixels, ...(back ? [arrivalPixels(state, name)] : [])];
    const scale = Math.min(canvas.height / shape[0], canvas.width / (pictures.length * shape[1] + 1));
    const [width, height] = [scale * shape[1], scale * shape[0]];
    pictures.forEach((pixels, i) => {
      const left = canvas.width / 2 + (i - pictures.length / 2) * (width + scale);
      context.drawImage(canvasOf(pixels, shape[1], shape[0]), left, (canvas.height - height) / 2, width, height);
    });
    return;
  }
  const colour = colouring(array, !back && name.endsWith("weights"));
  if (shape.length === 3) {
    const [H, N] = shape;
    const side = Math.min(canvas.height, canvas.width / H - 12);
    const start = (canvas.width - H * (side + 12) + 12) / 2;
    for (let h = 0; h < H; h++) {
      const square = coloured(array.subarray(h * N * N, (h + 1) * N * N), N, N, colour);
      context.drawImage(square, start + h * (side + 12), (canvas.height - side) / 2, side, side);
    }
    return;
  }
  const [rows, columns] = shape.length === 2 ? shape : [1, shape[0]];
  const height = rows === 1 ? canvas.height / 4 : canvas.height;
  const picture = coloured(array, rows, columns, colour);
  context.drawImage(picture, 0, (canvas.height - height) / 2, canvas.width, height);
}

// How a number becomes a colour: shares by heat, everything else by its sign, beside the spread of all.
function colouring(array, areShares) {
  if (areShares) return (x) => heatColour(heatOfShare(x * TOKENS));
  const spread = Math.sqrt(array.reduce((sum, x) => sum + x * x, 0) / array.length) || 1;
  const paper = paperColour();
  return (x) => signedColour(x, 2.5 * spread, paper);
}

function coloured(array, rows, columns, colour) {
  return canvasOf(Uint8Array.from(Array.from(array, colour).flat()), columns, rows);
}
