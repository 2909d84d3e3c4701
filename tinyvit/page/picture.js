// The picture: bytes (H, W, 3) for the model, and a larger sheet of paper for the pen and for photos.

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
