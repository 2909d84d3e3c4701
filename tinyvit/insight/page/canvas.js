// The picture on the page, with three modes: press a patch to look, cover patches, or draw.

const [DOWN, ACROSS] = model.config.grid;
const SIDE = Math.max(2, Math.round(760 / WIDTH)); // pixels of the canvas for one of the picture

const HELP = {
  look: "Press a patch, or move with the arrow keys.",
  cover: "Drag over patches, or press space.",
  draw: "Draw on the picture or on a blank sheet.",
};

function setUpCanvas({ state, run, redraw }) {
  const canvas = byId("picture");
  for (const each of [canvas, byId("map")]) {
    each.width = WIDTH * SIDE;
    each.height = HEIGHT * SIDE;
    each.style.aspectRatio = `${WIDTH} / ${HEIGHT}`;
  }
  let last = null; // the place of the pointer while it is down, in pixels of the picture
  let covering = true;

  const placeOf = (event, element) => {
    const box = element.getBoundingClientRect();
    const inside = (share) => Math.min(Math.max(share, 0), 0.9999);
    return {
      x: inside((event.clientX - box.left) / box.width) * WIDTH,
      y: inside((event.clientY - box.top) / box.height) * HEIGHT,
    };
  };
  const look = (patch) => {
    state.query = state.cursor = patch;
    redraw();
  };
  const cover = (patch) => {
    if (state.covered.has(patch) === covering) return;
    if (covering) state.covered.add(patch);
    else state.covered.delete(patch);
    state.cursor = patch;
    run();
  };
  const press = (place, before) => {
    const patch = patchAt(place);
    if (state.mode === "look") look(patch);
    if (state.mode === "cover") {
      if (!before) covering = !state.covered.has(patch);
      cover(patch);
    }
    if (state.mode === "draw") {
      stroke(state, before || place, place);
      run();
    }
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    press((last = placeOf(event, canvas)), null);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    for (const each of event.getCoalescedEvents?.() ?? [event]) {
      const place = placeOf(each, canvas);
      press(place, last);
      last = place;
    }
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (last = null));

  const map = byId("map");
  map.addEventListener("pointerdown", (event) => look(patchAt(placeOf(event, map))));
  map.addEventListener("pointermove", (event) => {
    if (event.buttons) look(patchAt(placeOf(event, map)));
  });

  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: ACROSS, ArrowUp: -ACROSS }[event.key];
    if (step) {
      const sideways = Math.abs(step) === 1;
      const next = state.cursor + step;
      const stays = sideways ? Math.floor(next / ACROSS) === Math.floor(state.cursor / ACROSS) : next >= 0;
      if (stays && next < DOWN * ACROSS) state.cursor = next;
      if (state.mode === "look") state.query = state.cursor;
      redraw();
    } else if (event.key === " " || event.key === "Enter") {
      covering = !state.covered.has(state.cursor);
      press(middleOf(state.cursor), null);
    } else return;
    event.preventDefault();
  });

  byId("modes").addEventListener("change", (event) => {
    state.mode = event.target.value;
    redraw();
  });
  byId("ask-answer").addEventListener("click", () => {
    state.query = "answer";
    redraw();
  });
  byId("uncover").addEventListener("click", () => {
    state.covered.clear();
    run();
  });
  byId("ask-answer").textContent = `Ask ${NAME_OF_ANSWER} instead`;
}

// The number of the patch at a place of the picture.
function patchAt({ x, y }) {
  const P = model.config.patch_size;
  return Math.floor(y / P) * ACROSS + Math.floor(x / P);
}

function middleOf(patch) {
  const P = model.config.patch_size;
  return { x: ((patch % ACROSS) + 0.5) * P, y: (Math.floor(patch / ACROSS) + 0.5) * P };
}

function drawCanvas(state) {
  const canvas = byId("picture");
  const context = canvas.getContext("2d");
  const small = canvasOf(seenPixels(state), WIDTH, HEIGHT);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
  const P = model.config.patch_size * SIDE;
  if (state.mode !== "draw") drawGrid(context, P);
  for (const patch of state.covered) hatch(context, (patch % ACROSS) * P, Math.floor(patch / ACROSS) * P, P);
  if (state.mode === "look" && state.query !== "answer") frame(context, state.query, P);
  if (state.mode !== "look" && canvas.matches(":focus-visible")) frame(context, state.cursor, P);
  const covered = state.covered.has(state.cursor) ? ", covered" : "";
  canvas.setAttribute("aria-label", `Picture. ${placeName(state.cursor)}${covered}`);
  byId("help").textContent = HELP[state.mode];
  for (const tools of document.querySelectorAll("#tools > div"))
    tools.hidden = tools.dataset.mode !== state.mode;
  byId("ask-answer").disabled = state.query === "answer";
  byId("uncover").disabled = !state.covered.size;
  const pocket = byId("pocket-picture");
  [pocket.width, pocket.height] = [WIDTH, HEIGHT];
  pocket.getContext("2d").drawImage(small, 0, 0);
}

function drawGrid(context, P) {
  context.strokeStyle = "rgba(255, 255, 255, 0.22)";
  context.lineWidth = 1.5;
  context.beginPath();
  for (let c = 1; c < ACROSS; c++) context.rect(c * P, -2, 0, DOWN * P + 4);
  for (let r = 1; r < DOWN; r++) context.rect(-2, r * P, ACROSS * P + 4, 0);
  context.stroke();
}

// Stripes over a covered patch.
function hatch(context, x, y, P) {
  context.save();
  context.beginPath();
  context.rect(x, y, P, P);
  context.clip();
  context.strokeStyle = "rgba(255, 255, 255, 0.35)";
  context.lineWidth = P / 18;
  for (let d = -P; d < P; d += P / 5) {
    context.beginPath();
    context.moveTo(x + d, y + P);
    context.lineTo(x + d + P, y);
    context.stroke();
  }
  context.restore();
}

// A frame around a patch that shows on any picture: light within dark.
function frame(context, patch, P) {
  const [x, y] = [(patch % ACROSS) * P, Math.floor(patch / ACROSS) * P];
  for (const [colour, width] of Object.entries({ "#10141a": 9, "#ffffff": 4 })) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(x, y, P, P);
  }
}

function placeName(patch) {
  return `row ${Math.floor(patch / ACROSS) + 1}, column ${(patch % ACROSS) + 1}`;
}
