// Pictures that a reader can move, each below the still picture of which it is the live copy. A picture has
// sliders (name, least, most, first value), computes numbers from their values, and draws these.
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers) => sum(numbers) / numbers.length;
const dot = (a, b) => sum(a.map((number, i) => number * b[i]));
const said = (number, digits = 3) => (Math.abs(number) < 0.5 * 10 ** -digits ? 0 : number).toFixed(digits);

function softmax(scores) {
  const e = scores.map((score) => Math.exp(score - Math.max(...scores)));
  return e.map((each) => each / sum(e));
}

// y = softmax(scores) and dx = J dy, with J[i][j] = y[i] ([i = j] - y[j]).
function jacobian(numbers) {
  const y = softmax(numbers.slice(0, 3)), dy = numbers.slice(3);
  const J = y.map((a, i) => y.map((b, j) => a * ((i === j) - b)));
  return { y, dy, J, dx: J.map((row) => dot(row, dy)) };
}

// n[0] of LayerNorm, and its slope for a push of x[0] along each path.
function paths(x) {
  const centred = x.map((each) => each - mean(x));
  const r = 1 / Math.sqrt(mean(centred.map((each) => each ** 2)) + 1e-6);
  const n = centred.map((each) => each * r);
  const slopes = [r, -r / x.length, (-r * n[0] ** 2) / x.length];
  return { n, slopes: [...slopes, sum(slopes)] };
}

// What a query of this direction (degrees) and length takes from the three tokens of lesson 6.
const TOKENS = { a: [1, 0], b: [0, 1], c: [1, 1] };
function attention([degrees, length]) {
  const q = [Math.cos, Math.sin].map((turn) => length * turn((degrees * Math.PI) / 180));
  const scores = Object.values(TOKENS).map((key) => dot(q, key) / Math.sqrt(2));
  const shares = softmax(scores);
  return { q, scores, shares, o: [0, 1].map((i) => dot(shares, Object.values(TOKENS).map((key) => 10 * key[i]))) };
}

// The drawing kit: parts of a panel, whose coordinates are those of its own corner.
const panel = (width, height, parts) =>
  `<svg viewBox="0 0 ${width} ${height}" width="${width}">${parts.flat(9).join("")}</svg>`;
const text = (x, y, words, kind = "", anchor = "middle") =>
  `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${words}</text>`;
const box = (x, y, width, height, kind, strength = 1) =>
  `<rect x="${x + Math.min(width, 0)}" y="${y + Math.min(height, 0)}" width="${Math.abs(width)}" height="${Math.abs(height)}" class="${kind}" fill-opacity="${strength}"/>`;
const line = (points, kind) => `<polyline points="${points.map((at) => at.join()).join(" ")}" class="${kind}"/>`;
function arrow([x, y], [X, Y], kind) {
  const length = Math.hypot(X - x, Y - y);
  if (length < 1) return "";
  const [a, b] = [(7 * (X - x)) / length, (7 * (Y - y)) / length];
  return line([[x, y], [X, Y], [X - a - b / 2, Y - b + a / 2], [X, Y], [X - a + b / 2, Y - b - a / 2]], kind);
}

function drawJacobian({ y, dy, J, dx }) {
  const level = (height) => 100 - 25 * height, middle = dot(y, dy);
  const bars = [text(150, 14, "dy, as wide as y; coloured is dx"), line([[30, level(0)], [270, level(0)]], "axis")];
  let left = 30;
  for (const [i, share] of y.entries()) {
    const width = 240 * share;
    bars.push(box(left, level(middle), width, level(dy[i]) - level(middle), dy[i] < middle ? "orange" : "blue", 0.5));
    bars.push(line([[left, level(0)], [left, level(dy[i])], [left + width, level(dy[i])], [left + width, level(0)]], "ink"));
    if (share > 0.1) bars.push(text(left + width / 2, 196, said(dx[i])), text(left + width / 2, 214, `y ${said(share, 2)}`, "quiet"));
    left += width;
  }
  bars.push(line([[30, level(middle)], [270, level(middle)]], "green"));
  bars.push(text(276, level(middle) + 4, said(middle, 2), "green", "start"));
  const matrix = J.map((row, i) => row.map((entry, j) => [
    box(30 + 62 * j, 36 + 36 * i, 58, 32, entry < 0 ? "orange" : "blue", Math.min(1, 3 * Math.abs(entry))),
    text(59 + 62 * j, 57 + 36 * i, said(entry)),
  ]));
  const products = dx.map((entry, i) => text(228, 57 + 36 * i, `dx ${said(entry)}`, "", "start"));
  return panel(310, 220, bars) + panel(310, 160, [text(122, 20, "J = dy/dx of softmax, times dy"), matrix, products]);
}

function drawPaths({ n, slopes }, x) {
  const at = (slope) => 150 + 110 * Math.max(-1.2, Math.min(1.2, slope));
  const names = ["directly", "through the mean", "through r", "together"], colours = ["blue", "orange", "green", "ink"];
  const bars = slopes.map((slope, i) => [
    text(14, 44 + 44 * i, names[i], "", "start"), text(286, 44 + 44 * i, said(slope), "", "end"),
    box(150, 50 + 44 * i, at(slope) - 150, 14, colours[i]),
  ]);
  const place = (first, value) => [160 + 13 * first, 105 - 48 * value];
  const curve = Array.from({ length: 201 }, (_, i) => place(i / 10 - 10, paths([i / 10 - 10, x[1], x[2]]).n[0]));
  const here = place(x[0], n[0]), rise = slopes[3];
  const tangent = [-2, 2].map((step) => place(x[0] + step, n[0] + step * rise));
  return panel(300, 220, [text(150, 16, "slope of the first n, path by path"), bars, line([[150, 40], [150, 204]], "axis")])
    + panel(320, 220, [
      text(160, 16, "first n against first x, and the slope"), line([[20, 105], [300, 105]], "axis"),
      line(curve, "blue"), line(tangent, "ink"), `<circle cx="${here[0]}" cy="${here[1]}" r="5"/>`,
      text(160, 216, `n = ${n.map((each) => said(each, 2)).join(", ")}`),
    ]);
}

function drawAttention({ q, scores, shares, o }) {
  const at = ([x, y], unit, [left, low]) => [left + unit * x, low - unit * y];
  const names = Object.keys(TOKENS), keys = Object.values(TOKENS), middle = [105, 115];
  const plane = [
    text(105, 16, "the query, and the keys"),
    keys.map((key, i) => [arrow(middle, at(key, 32, middle), "blue"), text(...at(key, 44, [middle[0], middle[1] + 5]), names[i])]),
    arrow(middle, at(q, 32, middle), "orange"),
  ];
  const bars = names.map((name, i) => [
    text(14, 62 + 50 * i, `${name} ${said(scores[i], 2)}`, "", "start"),
    box(80, 46 + 50 * i, 90 * shares[i], 24, "blue"), text(84 + 90 * shares[i], 63 + 50 * i, said(shares[i], 2), "", "start"),
  ]);
  const corner = [40, 180], corners = keys.map((key) => at(key, 130, corner)), heard = at(o, 13, corner);
  return panel(210, 210, plane)
    + panel(210, 210, [text(105, 16, "scores, and attention"), bars])
    + panel(210, 210, [
      text(105, 16, "what is heard: the mix"), line([...corners, corners[0]], "axis"),
      corners.map((each, i) => [line([each, heard], "blue"), text(each[0], each[1] + (i === 0 ? 18 : -8), names[i])]),
      `<circle cx="${heard[0]}" cy="${heard[1]}" r="5"/>`, text(105, 206, `(${said(o[0], 1)}, ${said(o[1], 1)})`),
    ]);
}

const row = (name, values, least, most) => values.map((value, i) => [`${name}${i + 1}`, least, most, value]);
const PICTURES = {
  "01_softmax_cross_entropy/figures/jacobian.png":
    [[...row("score ", [0.69, 0, 0], -3, 3), ...row("dy ", [3, 1, -1], -3, 3)], jacobian, drawJacobian],
  "07_layer_norm/figures/paths.png": [row("x ", [2, 4, 6], -10, 10), paths, drawPaths],
  "06_attention/figures/attention.png":
    [[["direction of the query, degrees", 0, 360, 63.4], ["length of the query", 0, 3, 2.24]], attention, drawAttention],
};
for (const image of document.querySelectorAll("a.figure img")) {
  const found = Object.keys(PICTURES).find((name) => image.src.endsWith(name));
  if (!found) continue;
  const [sliders, compute, draw] = PICTURES[found];
  const figure = Object.assign(document.createElement("figure"), { className: "moving" });
  const picture = document.createElement("div"), fields = document.createElement("div");
  const inputs = sliders.map(([name, min, max, value]) => {
    const label = Object.assign(document.createElement("label"), { textContent: name });
    const input = Object.assign(document.createElement("input"), { type: "range", min, max, step: "any", value });
    label.append(input, document.createElement("output"));
    fields.append(label);
    return input;
  });
  const show = () => {
    const values = inputs.map((input) => Number(input.value));
    inputs.forEach((input, i) => { input.nextSibling.value = said(values[i], 2); });
    picture.innerHTML = draw(compute(values), values);
  };
  fields.oninput = show;
  figure.append(picture, fields);
  image.closest("a").after(figure);
  show();
}
