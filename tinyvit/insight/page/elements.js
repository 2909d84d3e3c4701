// Small helpers for the page's elements.

function byId(id) {
  return document.getElementById(id);
}

// The configuration, weights, classes and samples: see tinyvit/insight/page/contents.py.
const model = JSON.parse(byId("model").textContent);

// A new element with properties and contents; properties with a dash are attributes.
function make(tag, properties = {}, ...contents) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...contents);
  return element;
}

// A canvas of that size whose pixels are the given bytes (red, green, blue) in rows.
function canvasOf(pixels, width, height) {
  const canvas = make("canvas", { width, height });
  putPixels(canvas, pixels);
  return canvas;
}

// Write bytes (red, green, blue) over a whole canvas.
function putPixels(canvas, pixels) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  for (let i = 0, j = 0; i < pixels.length; i += 3, j += 4) {
    image.data[j] = pixels[i];
    image.data[j + 1] = pixels[i + 1];
    image.data[j + 2] = pixels[i + 2];
    image.data[j + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

// Let the arrow keys move among the buttons of a container, of which only one is in the order of the tab key.
function moveWithArrows(container, columns) {
  const buttons = () => [...container.querySelectorAll("button")];
  buttons().forEach((button, i) => (button.tabIndex = i ? -1 : 0));
  container.addEventListener("keydown", (event) => {
    const all = buttons();
    const here = all.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns(), ArrowUp: -columns() }[event.key];
    const next = all[here + step];
    if (here < 0 || !next) return;
    event.preventDefault();
    next.focus();
  });
  container.addEventListener("focusin", (event) => {
    if (event.target.tagName !== "BUTTON") return;
    for (const button of buttons()) button.tabIndex = button === event.target ? 0 : -1;
  });
}

// Say something through a live region, once the hand has come to rest.
function sayWhenQuiet(element, text) {
  clearTimeout(element.timer);
  element.timer = setTimeout(() => {
    if (element.textContent !== text) element.textContent = text;
  }, 500);
}

function percent(share) {
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

// Colours for numbers: heat for shares, as in tinyvit/insight/pictures/colours.py, blue and orange for what may be
// negative.

// The colour [red, green, blue] of a number from 0 to 1.
function heatColour(heat) {
  const place = Math.min(Math.max(heat, 0), 1) * (model.heat.length - 1);
  const low = Math.min(Math.floor(place), model.heat.length - 2);
  const next = model.heat[low + 1];
  return model.heat[low].map((value, i) => value + (place - low) * (next[i] - value));
}

// The heat of a share: 0.5 for an even one, 0 for an eighth of it, 1 for eight times it.
function heatOfShare(share) {
  return 0.5 + Math.log2(Math.min(Math.max(share, 1 / 8), 8)) / 6;
}

// The pixels of a map: one for each share.
function heatPixels(shares) {
  return Uint8Array.from(Array.from(shares, (share) => heatColour(heatOfShare(share))).flat());
}

// The colour of a signed number: orange above 0, blue below, paper at 0; in full strength from scale on.
function signedColour(value, scale, paper) {
  const full = value > 0 ? [217, 117, 26] : [47, 111, 219];
  const strength = Math.min(Math.abs(value) / scale, 1);
  return paper.map((channel, i) => channel + strength * (full[i] - channel));
}

// The paper that canvases are drawn on, as [red, green, blue].
function paperColour() {
  const hex = getComputedStyle(document.documentElement).getPropertyValue("--paper").trim();
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}
