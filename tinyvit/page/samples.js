// The sample pictures: a few of each class.

const SAMPLES = samplePixels();

// The bytes (H, W, 3) of every sample.
function samplePixels() {
  const bytes = bytesOf(model.samples.pixels);
  const size = HEIGHT * WIDTH * 3;
  return model.samples.labels.map((_, i) => bytes.slice(i * size, (i + 1) * size));
}

function setUpSamples({ state, run }) {
  const strip = byId("samples");
  SAMPLES.forEach((pixels, i) => {
    const name = model.classes[model.samples.labels[i]] ?? "without a label";
    const button = make(
      "button",
      { type: "button", title: name, "aria-label": `sample: ${name}`, "aria-pressed": "false" },
      canvasOf(pixels, WIDTH, HEIGHT),
    );
    button.addEventListener("click", () => {
      chooseSample(state, i);
      run();
    });
    strip.append(button);
  });
  strip.hidden = !SAMPLES.length;
  moveWithArrows(strip, () => getComputedStyle(strip).gridTemplateColumns.split(" ").length);
}

function chooseSample(state, i) {
  setPixels(state, SAMPLES[i]);
  state.sample = i;
}

function drawSamples(state) {
  [...byId("samples").children].forEach((button, i) => {
    button.setAttribute("aria-pressed", String(i === state.sample));
  });
}
