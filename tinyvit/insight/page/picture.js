// The picture: bytes (H, W, 3) for the model, and a larger sheet of paper for the pen and for photos. It is a
// sample, a drawing or a photo.

const [HEIGHT, WIDTH] = model.config.image_size;
const ENLARGED = Math.max(1, Math.round(384 / WIDTH)); // pixels of the sheet for one of the picture

const sheet = make("canvas", { width: WIDTH * ENLARGED, height: HEIGHT * ENLARGED });
const paint = sheet.getContext("2d", { willReadFrequently: true });

// Show these bytes; the sheet then holds the same picture, enlarged.
function setPixels(state, pixels) {
  state.pixels = pixels;
  state.picture += 1;
  state.covered.clear();
  state.order = null;
  paint.imageSmoothingEnabled = false;
  paint.drawImage(canvasOf(pixels, WIDTH, HEIGHT), 0, 0, sheet.width, sheet.height);
}

// Read the picture from the sheet: every pixel is the mean of its square.
function readSheet(state) {
  const { data } = paint.getImageData(0, 0, sheet.width, sheet.height);
  const sums = new Float64Array(HEIGHT * WIDTH * 3);
  for (let y = 0; y < sheet.height; y++) {
    for (let x = 0; x < sheet.width; x++) {
      const to = (Math.floor(y / ENLARGED) * WIDTH + Math.floor(x / ENLARGED)) * 3;
      const from = (y * sheet.width + x) * 4;
      for (let k = 0; k < 3; k++) sums[to + k] += data[from + k];
    }
  }
  state.pixels = Uint8Array.from(sums, (sum) => Math.round(sum / ENLARGED ** 2));
  state.picture += 1;
}

// A plain sheet, a little lighter than the middle, so that dark and light pens both show.
function blankSheet(state) {
  setPixels(state, new Uint8Array(HEIGHT * WIDTH * 3).fill(150));
}

// What the model sees: the picture with its patches in their present order, covered ones grey.
function seenPixels(state) {
  if (!state.order && !state.covered.size) return state.pixels;
  const P = model.config.patch_size;
  const columns = WIDTH / P;
  const seen = new Uint8Array(state.pixels.length);
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const position = Math.floor(y / P) * columns + Math.floor(x / P);
      const patch = state.order ? state.order[position] : position;
      const from =
        ((Math.floor(patch / columns) * P + (y % P)) * WIDTH + (patch % columns) * P + (x % P)) * 3;
      const to = (y * WIDTH + x) * 3;
      for (let k = 0; k < 3; k++) seen[to + k] = state.covered.has(position) ? 128 : state.pixels[from + k];
    }
  }
  return seen;
}

// The same picture in grey: how bright red, green and blue look together (ITU-R BT.601).
function inGrey(pixels) {
  const grey = pixels.slice();
  for (let i = 0; i < pixels.length; i += 3) {
    grey.fill(Math.round(0.299 * pixels[i] + 0.587 * pixels[i + 1] + 0.114 * pixels[i + 2]), i, i + 3);
  }
  return grey;
}

// The sample pictures: a few of each class.

const SAMPLE_BYTES = bytesOf(model.samples.pixels);
const SIZE = HEIGHT * WIDTH * 3;
const SAMPLES = model.samples.labels.map((_, i) => SAMPLE_BYTES.slice(i * SIZE, (i + 1) * SIZE));

function setUpSamples({ state, run }) {
  const strip = byId("samples");
  SAMPLES.forEach((pixels, i) => {
    const name = model.classes[model.samples.labels[i]] ?? "without a label";
    const about = { type: "button", title: name, "aria-label": `sample: ${name}`, "aria-pressed": "false" };
    const button = make("button", about, canvasOf(pixels, WIDTH, HEIGHT));
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

// The pen: round strokes on the sheet, in one of a few colours.

const COLOURS = {
  black: "#16181d",
  white: "#f4f4f2",
  red: "#c8384a",
  green: "#14966b",
  blue: "#2f6fdb",
  yellow: "#e8c23a",
};

function setUpPen({ state, run, redraw }) {
  for (const [name, colour] of Object.entries(COLOURS)) {
    const about = { type: "button", title: name, "aria-label": name, "aria-pressed": "false" };
    const button = make("button", about);
    button.style.background = colour;
    button.addEventListener("click", () => {
      state.colour = colour;
      redraw();
    });
    byId("colours").append(button);
  }
  byId("pen").max = Math.max(4, Math.round(WIDTH / 4));
  byId("pen").value = state.penWidth = Math.max(2, Math.round(WIDTH / 10));
  byId("pen").addEventListener("input", (event) => (state.penWidth = Number(event.target.value)));
  byId("blank").addEventListener("click", () => {
    blankSheet(state);
    state.sample = null;
    run();
  });
}

function drawPen(state) {
  [...byId("colours").children].forEach((button, i) => {
    button.setAttribute("aria-pressed", String(Object.values(COLOURS)[i] === state.colour));
  });
}

// A stroke from one place to another, both in pixels of the picture. A dot, if they are the same.
function stroke(state, from, to) {
  state.order = null; // on a shuffled picture nobody can draw
  paint.strokeStyle = state.colour;
  paint.lineWidth = state.penWidth * ENLARGED;
  paint.lineCap = paint.lineJoin = "round";
  paint.beginPath();
  paint.moveTo(from.x * ENLARGED, from.y * ENLARGED);
  paint.lineTo(to.x * ENLARGED + 0.01, to.y * ENLARGED);
  paint.stroke();
  readSheet(state);
  state.sample = null;
}

// Photos: dropped on the page, pasted, or chosen from files. The largest part of the right shape is cut out.

function setUpPhotos({ state, run }) {
  const take = async (file) => {
    byId("trouble").textContent = "";
    try {
      showPhoto(state, await createImageBitmap(file));
      run();
    } catch {
      byId("trouble").textContent = "That is not a picture that this browser can read.";
    }
  };
  byId("file").addEventListener("change", (event) => {
    if (event.target.files.length) take(event.target.files[0]);
    event.target.value = "";
  });
  addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files ?? [])][0];
    if (file) take(file);
  });
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  });
}

// Transparent parts are shown on white.
function showPhoto(state, photo) {
  const scale = Math.min(photo.width / sheet.width, photo.height / sheet.height);
  const [width, height] = [sheet.width * scale, sheet.height * scale];
  const [left, top] = [(photo.width - width) / 2, (photo.height - height) / 2];
  paint.fillStyle = "#ffffff";
  paint.fillRect(0, 0, sheet.width, sheet.height);
  paint.imageSmoothingEnabled = true;
  paint.imageSmoothingQuality = "high";
  paint.drawImage(photo, left, top, width, height, 0, 0, sheet.width, sheet.height);
  state.covered.clear();
  state.order = null;
  state.sample = null;
  readSheet(state);
}
