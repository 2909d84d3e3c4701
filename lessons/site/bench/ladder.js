import { keep, one } from "./page.js";
import { ask, stop } from "./python.js";

// The ladder, with the loss of every step

export async function climb(button) {
  if (stop(button)) return;
  const place = one(".printed");
  const losses = [];
  place.textContent = "";
  place.hidden = false;
  const tell = (told) => {
    if (told.printed) place.textContent += told.printed;
    if (told.loss !== undefined && losses.push(told.loss) % 4 === 0) drawCurve(losses);
  };
  try {
    const status = (text) => (one(".status").textContent = text);
    const end = await ask(button, { what: "climb", impl: button.dataset.impl }, { tell, say: status });
    status("");
    if (end.reached) keep("file mine/reached.json", end.reached);
    one(".map").src = `data:image/png;base64,${end.map}`;
    one(".map").hidden = false;
  } catch (error) {
    place.textContent += error.message;
  }
}

// Losses from left to right, each the mean of the last ten; chance, log 10, is the line at the top.
function drawCurve(losses) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const across = 600 / Math.max(losses.length, 160);
  const points = losses.map((_, i) => {
    const loss = mean(losses.slice(Math.max(0, i - 9), i + 1));
    return `${(i * across).toFixed(1)},${(190 - (170 * Math.min(loss, 2.6)) / Math.log(10)).toFixed(1)}`;
  });
  one(".curve").style.display = "block";
  one(".curve").innerHTML = `<path d="M0 20H600M0 190H600"/><polyline points="${points.join(" ")}"/>
    <text x="600" y="16" text-anchor="end">chance</text>
    <text x="600" y="186" text-anchor="end">step ${losses.length}, loss ${mean(losses.slice(-10)).toFixed(2)}</text>`;
}
