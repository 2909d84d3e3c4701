import { keep, kept, lesson, make, one, PREFIX } from "./page.js";

// The editor: a field whose text is drawn in colours by what lies under it.

const TOKENS = new RegExp(
  [
    /(?<sd>"""[^]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/,
    /(?<c1>#.*)/,
    /(?<k>\b(?:and|as|assert|break|class|continue|def|del|elif|else|except|finally|for|from|if|import|in|is|lambda|None|not|or|pass|raise|return|True|False|try|while|with|yield)\b)/,
    /(?<mi>\b\d[\w.]*)/,
  ]
    .map((part) => part.source)
    .join("|"),
  "g",
);

function coloured(text) {
  const pieces = [];
  let from = 0;
  for (const match of text.matchAll(TOKENS)) {
    const className = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    pieces.push(text.slice(from, match.index), make("span", { className, textContent: match[0] }));
    from = match.index + match[0].length;
  }
  return [...pieces, text.slice(from)];
}

export function setUpEditor() {
  const field = one("textarea");
  const first = field.value;
  const name = `file ${lesson}/exercise.py`;
  const draw = () => {
    one(".colours").replaceChildren(...coloured(field.value), "\n");
    one(".lines").textContent = field.value.split("\n").map((_, i) => i + 1).join("\n");
  };
  const changed = () => {
    draw();
    if (!keep(name, field.value === first ? null : field.value)) {
      one(".status").textContent = "This browser keeps nothing: download your text before you leave.";
    }
  };
  const set = (text) => {
    field.value = text;
    changed();
  };
  field.value = kept(name) ?? first;
  draw();
  field.oninput = changed;
  window.addEventListener("storage", (event) => {
    if (event.key !== PREFIX + name) return; // written in another tab
    field.value = event.newValue ?? first;
    draw();
  });

  let leaves = false; // after Escape, Tab leaves the field
  field.onkeydown = (event) => {
    if (event.key === "Tab" && !leaves) indent(field, event.shiftKey);
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) one("[data-ask]").click();
    else if (event.key === "Enter") newLine(field);
    else {
      leaves = event.key === "Escape" || (leaves && event.key === "Shift");
      return;
    }
    event.preventDefault();
  };

  one(".download").onclick = () => {
    const href = URL.createObjectURL(new Blob([field.value], { type: "text/x-python" }));
    make("a", { href, download: "exercise.py" }).click();
  };
  const file = make("input", { type: "file", accept: ".py" });
  file.onchange = async () => set(await file.files[0].text());
  one(".upload").onclick = () => {
    file.value = ""; // so that the same file can be chosen again
    file.click();
  };
  one(".afresh").onclick = () => {
    if (confirm("Throw away what you wrote here, and start this exercise afresh?")) set(first);
  };
}

// Typed as a person would, so that the browser can take it back.
const type = (text) => document.execCommand(text ? "insertText" : "delete", false, text);

function newLine(field) {
  const line = field.value.slice(0, field.selectionStart).split("\n").at(-1);
  type(`\n${line.match(/^ */)[0]}${line.trimEnd().endsWith(":") ? "    " : ""}`);
}

// Move the selected lines by four columns; without a selection, put in what is missing to the next fourth one.
function indent(field, back) {
  const { value, selectionStart, selectionEnd } = field;
  const start = value.lastIndexOf("\n", selectionStart - 1) + 1;
  if (!back && selectionStart === selectionEnd) return type(" ".repeat(4 - ((selectionStart - start) % 4)));
  const text = value.slice(start, selectionEnd);
  const moved = back ? text.replace(/^ {1,4}/gm, "") : text.replace(/^(?=.)/gm, "    ");
  if (moved === text) return;
  field.setSelectionRange(start, selectionEnd);
  type(moved);
  if (selectionStart < selectionEnd) field.setSelectionRange(start, start + moved.length);
}

export function goToLine(number) {
  const field = one("textarea");
  const lines = field.value.split("\n");
  const start = lines.slice(0, number - 1).join("\n").length + (number > 1);
  field.focus();
  field.setSelectionRange(start, start + lines[number - 1].length);
  one(".editor").scrollTop = (field.scrollHeight / lines.length) * (number - 6);
}
