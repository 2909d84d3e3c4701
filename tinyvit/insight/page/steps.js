// The panel that goes from pixels to logits: one array after another, with its shape and its equation.

const STEPS = stepsOf(model.config);

function setUpSteps({ state, run }) {
  byId("step").max = STEPS.length - 1;
  const go = (number) => {
    state.step = Math.min(Math.max(number, 0), STEPS.length - 1);
    byId("step").value = state.step;
    run();
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
  if (watched?.name !== step.name) return; // its array is on the way
  const shape = `${step.shape} = (${watched.shape.join(", ")})`;
  byId("step-title").textContent = `${step.part} · ${step.title}`;
  byId("step-text").textContent = step.text;
  byId("step-formula").textContent = step.formula;
  const lesson = "lesson" in step ? ` · lesson ${step.lesson}` : "";
  const number = `step ${state.step + 1} of ${STEPS.length}`;
  byId("step-source").textContent = `tinyvit/${step.source}${lesson} · ${number}`;
  for (const button of byId("parts").children) {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-label") === step.part));
  }
  byId("step").setAttribute("aria-valuetext", `${step.part}, ${step.title}`);
  byId("back").disabled = state.step === 0;
  byId("on").disabled = state.step === STEPS.length - 1;
  byId("step-numbers").textContent = `${shape} · ${numbersOf(watched.array)}`;
  byId("array").setAttribute("aria-label", `${step.title}, shape ${shape}`);
  drawArray(watched, step);
}

function numbersOf(array) {
  const meanOf = (f) => array.reduce((sum, x) => sum + f(x), 0) / array.length;
  const [low, high] = [Math.min, Math.max].map((most) => array.reduce((a, x) => most(a, x)));
  const mean = meanOf((x) => x);
  const deviation = Math.sqrt(Math.max(meanOf((x) => x * x) - mean * mean, 0));
  const short = (x) => String(Number(x.toPrecision(3)));
  return `mean ${short(mean)}, standard deviation ${short(deviation)}, from ${short(low)} to ${short(high)}`;
}

// An array as a picture. Rows are tokens; squares side by side are heads; the pixels are the picture itself.
function drawArray({ array, shape }, step) {
  const canvas = byId("array");
  const context = canvas.getContext("2d");
  [canvas.width, canvas.height] = [2 * canvas.clientWidth, 2 * canvas.clientHeight];
  context.imageSmoothingEnabled = false;
  if (step.name === "pixels") {
    const width = (canvas.height * shape[1]) / shape[0];
    const bytes = array.map((x) => x * 127.5 + 127.5);
    const picture = canvasOf(bytes, shape[1], shape[0]);
    context.drawImage(picture, (canvas.width - width) / 2, 0, width, canvas.height);
    return;
  }
  const colour = colouring(array, step.name);
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
function colouring(array, name) {
  if (name.endsWith("weights")) return (x) => heatColour(heatOfShare(x * TOKENS));
  const spread = Math.sqrt(array.reduce((sum, x) => sum + x * x, 0) / array.length) || 1;
  const paper = paperColour();
  return (x) => signedColour(x, 2.5 * spread, paper);
}

function coloured(array, rows, columns, colour) {
  return canvasOf(Uint8Array.from(Array.from(array, colour).flat()), columns, rows);
}
