// Small helpers for the page's elements.

function byId(id) {
  return document.getElementById(id);
}

// The configuration, weights, classes and samples: see tinyvit/page/contents.py.
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
