// The bench of a page: the editor with the lesson's exercise, its checks, and a button beside every listing.
// Python runs in worker.js, which starts when the reader opens the bench or runs something.

const bench = document.getElementById("bench");
const lesson = bench?.dataset.lesson;
const one = (selector) => bench.querySelector(selector);

function make(tag, properties = {}, ...contents) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...contents);
  return element;
}

// What is kept in this browser: "file 06_attention/exercise.py" and "reached 06_attention".

const PREFIX = "tinyvit ";

function kept(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

// Keep a text, or forget it if it is null; whether the browser allows that.
function keep(name, text) {
  try {
    if (text === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, text);
    return true;
  } catch {
    return false;
  }
}

function files() {
  const start = `${PREFIX}file `;
  const names = Object.keys(localStorage).filter((name) => name.startsWith(start));
  return Object.fromEntries(names.map((name) => [name.slice(start.length), localStorage.getItem(name)]));
}

// Python: one thing at a time. tell gets what is reported meanwhile, say what Python is doing.

let worker = null;
let job = null;

function python() {
  if (worker) return worker;
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.onerror = (event) => end("reject", new Error(event.message || "Python cannot be loaded"));
  worker.onmessage = ({ data }) => {
    if (data.kind === "loading") say(data.text);
    else if (data.kind === "told") job?.tell(JSON.parse(data.text));
    else if (data.kind === "done") end("resolve", JSON.parse(data.text));
    else end("reject", new Error(data.text));
  };
  return worker;
}

function say(text) {
  if (job) job.say(text);
  else if (bench) one(".status").textContent = text;
}

function end(how, value) {
  if (how === "reject") {
    worker?.terminate();
    worker = null;
    if (!job) say(value.message);
  }
  job?.[how](value);
  job = null;
}

// Have Python do something; the button says Stop meanwhile, and a second press ends it.
async function ask(button, message, { tell, say }) {
  if (job) {
    if (job.button === button) end("reject", new Error("Stopped."));
    return null;
  }
  const text = button.textContent;
  button.textContent = "Stop";
  button.classList.add("stop");
  document.body.classList.add("busy");
  try {
    return await new Promise((resolve, reject) => {
      job = { button, tell, say, resolve, reject };
      python().postMessage({ ...message, files: files() });
    });
  } finally {
    button.textContent = text;
    button.classList.remove("stop");
    document.body.classList.remove("busy");
  }
}

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

function setUpEditor() {
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
  one(".upload").onclick = () => {
    const input = make("input", { type: "file", accept: ".py" });
    input.onchange = async () => set(await input.files[0].text());
    input.click();
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

function goToLine(number) {
  const field = one("textarea");
  const lines = field.value.split("\n");
  const start = lines.slice(0, number - 1).join("\n").length + (number > 1);
  field.focus();
  field.setSelectionRange(start, start + lines[number - 1].length);
  one(".editor").scrollTop = (field.scrollHeight / lines.length) * (number - 6);
}

// The checks

async function check(button) {
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
    if (!end) return;
    status(end.said ?? end.failed);
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
  const line = text.match(/exercise\.py, line (\d+)/)?.[1];
  if (line) item.append(make("button", { textContent: `Line ${line}`, onclick: () => goToLine(line) }));
  item.append(make("small", { textContent: check }));
  return item;
}

function also(item, check) {
  item.querySelector("small").textContent += `, ${check}`;
}

function showReached() {
  for (const link of document.querySelectorAll("#contents a")) {
    const name = link.pathname.split("/").at(-2);
    const reached = JSON.parse(kept(`reached ${name}`));
    if (reached) link.parentElement.querySelector("small").textContent = `${reached.done}/${reached.total}`;
    if (reached && name === lesson && !job) one(".status").textContent ||= `So far: ${reached.said}.`;
  }
}

// The listings

const listings = [...document.querySelectorAll(".code:not([data-copy])")];

function setUpListing(block, i) {
  const place = make("pre", { className: "output yours", hidden: true });
  const button = make("button", { textContent: "Run", className: "run" });
  button.onclick = async () => {
    const codes = listings.slice(0, i + 1).map((each) => each.querySelector("pre").textContent);
    let printed = "";
    const show = (text) => (place.textContent = printed + text);
    const tell = (told) => show((printed += told.printed) && "");
    if (!job) place.hidden = false;
    try {
      const page = location.pathname;
      const ran = await ask(button, { what: "run", page, listings: codes }, { tell, say: show });
      if (ran) show(ran.ran && !printed ? "(it prints nothing)" : "");
    } catch (error) {
      show(error.message);
    }
  };
  block.append(button);
  block.after(place);
}

// The ladder, with the loss of every step

async function climb(button) {
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
    if (!end) return;
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

// What a page has of all this

listings.forEach(setUpListing);
if (bench) {
  bench.hidden = false;
  bench.ontoggle = () => bench.open && python().postMessage({ what: "load", files: files() });
  if (lesson !== "mine") setUpEditor();
  for (const button of bench.querySelectorAll("[data-ask]")) {
    button.onclick = () => ({ check, climb })[button.dataset.ask](button);
  }
}
showReached();
