import { goToLine } from "./editor.js";
import { keep, kept, lesson, make, one } from "./page.js";
import { ask, stop } from "./python.js";

// The checks

export async function check(button) {
  if (stop(button)) return;
  const list = one(".verdicts");
  const bar = one("progress");
  const status = (text) => (one(".status").textContent = text);
  const open = { "to do": new Set(), "not here": new Set() }; // why checks are neither right nor wrong
  list.replaceChildren();
  const tell = (told) => {
    if (told.checks) {
      [bar.max, bar.value] = [told.checks, 0];
      return status(`running ${told.checks} checks ...`);
    }
    bar.value += 1;
    if (told.faults) list.replaceChildren(...told.faults.map(fault));
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

// A fault in the words of the terminal, line by line, and what was printed meanwhile.
const TAGS = { sentence: "strong", code: "pre", numbers: "small", hint: "p", checks: "small" };

function fault({ lines, printed }) {
  const parts = lines.map(([kind, textContent]) => {
    const line = kind === "code" && textContent.match(/^exercise\.py, line (\d+)/)?.[1];
    if (!line) return make(TAGS[kind], { textContent });
    return make("pre", { textContent }, make("button", { textContent: "Go", onclick: () => goToLine(line) }));
  });
  if (printed) parts.splice(-1, 0, make("pre", { textContent: `printed meanwhile:\n${printed}` }));
  return make("li", { className: "wrong" }, ...parts);
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
