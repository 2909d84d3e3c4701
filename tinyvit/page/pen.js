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
    const button = make("button", {
      type: "button",
      "aria-label": name,
      "aria-pressed": "false",
      title: name,
    });
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
