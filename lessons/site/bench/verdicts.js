import { goToLine } from "./editor.js";
import { keep, kept, lesson, make, one } from "./page.js";
import { ask, stop } from "./python.js";

// The checks

export async function check(button) {
  if (stop(button)) return;
  const list = one(".verdicts");
  const bar = one("progress");
  const status = (text) => (one(".status").textContent = text);
  const rows = {}; // by the first check that found a fault
  const open = { "to do": new Set(), "not here": new Set() }; // why checks are neither right nor wrong
  list.replaceChildren();
  const tell = (told) => {
    if (told.checks) {
      [bar.max, bar.value] = [told.checks, 0];
      return status(`running ${told.checks} checks ...`);
    }
    bar.value += 1;
    if (told.same) also(rows[told.same], told.check);
    else if (told.state === "wrong") list.append((rows[told.check] = fault(told)));
    else open[told.state]?.add(told.text);
  };
  try {
    const end = await ask(button, { what: "check", lesson }, { tell, say: status });
    const none = open["not here"].size ? "None of the checks can run in a page." : end.failed;
    status(end.said ?? none);
    for (const text of open["to do"]) list.append(make("li", { textContent: text }));
    for (const text of open["not here"]) list.append(make("li", { textContent: `not checked here: ${text}` }));
    if (end.total) keep(`reached ${lesson}`, JSON.stringify(end));
    showReached();
  } catch (error) {
    status(error.message);
  }
}

// A fault in the words of the terminal: its first line, the rest, and what was printed meanwhile.
function fault({ check, text, printed }) {
  const [head, ...rest] = text.split("\n");
  const item = make("li", { className: "wrong" }, make("strong", { textContent: head }));
  if (rest.length) item.append(make("pre", { textContent: rest.join("\n") }));
  if (printed) item.append(make("pre", { textContent: `printed meanwhile:\n${printed}` }));
  const line = text.match(/(?:exercise\.py,|see) line (\d+)/)?.[1];
  if (line) item.append(make("button", { textContent: `Line ${line}`, onclick: () => goToLine(line) }));
  item.append(make("small", { textContent: check, title: check }));
  return item;
}

// All checks that found a fault are in the tip.
function also(item, check) {
  const place = item.querySelector("small");
  const checks = [...place.title.split("\n"), check];
  place.title = checks.join("\n");
  place.textContent = `${checks[0]}, and ${checks.length - 1} more`;
}

// How far the reader is, in the menu and, before anything is checked, on the bench.
export function showReached() {
  for (const place of document.querySelectorAll("#contents ul small")) {
    const name = place.parentElement.querySelector("a").pathname.split("/").at(-2);
    const reached = JSON.parse(kept(`reached ${name}`));
    if (reached) place.textContent = `${reached.done}/${reached.total}`;
    if (reached && name === lesson) one(".status").textContent ||= `So far: ${reached.said}.`;
  }
}
