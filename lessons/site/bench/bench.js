// The bench of a page: the editor with the lesson's exercise, its checks, and a button beside every listing.
// Python runs in worker.js, which starts when the reader opens the bench or runs something.

import { setUpEditor } from "./editor.js";
import { climb } from "./ladder.js";
import { bench, files, keep, kept, lesson, make, one } from "./page.js";
import { ask, python, stop } from "./python.js";
import { check, showReached } from "./verdicts.js";

const listings = [...document.querySelectorAll(".code:not([data-copy])")];

// A button that runs the last of some codes, after those before it; page names where they stand.
function setUpListing(block, page, codes) {
  const place = make("pre", { className: "output yours", hidden: true });
  const button = make("button", { textContent: "Run", className: "run" });
  button.onclick = async () => {
    if (stop(button)) return;
    let printed = "";
    const show = (text) => (place.textContent = printed + text);
    const tell = (told) => show((printed += told.printed) && "");
    place.hidden = false;
    try {
      const ran = await ask(button, { what: "run", page, listings: codes() }, { tell, say: show });
      show(ran.ran && !printed ? "(it prints nothing)" : "");
    } catch (error) {
      show(error.message);
    }
  };
  block.append(button);
  block.after(place);
}

// Lines of the reader's own, which use what is in the editor.
function setUpTry() {
  const field = one(".try textarea");
  const name = `try ${lesson}`;
  field.value = kept(name) ?? "";
  field.oninput = () => keep(name, field.value);
  setUpListing(one(".try"), `${lesson}#bench`, () => [one("textarea").value, field.value]);
}

// What a page has of all this

listings.forEach((block, i) => {
  const text = (each) => each.querySelector("pre").textContent;
  setUpListing(block, location.pathname, () => listings.slice(0, i + 1).map(text));
});
if (bench) {
  bench.hidden = false;
  bench.ontoggle = () => bench.open && python().postMessage({ what: "load", files: files() });
  if (lesson !== "mine") {
    setUpEditor();
    setUpTry();
    const way = make("a", { href: "#bench", textContent: "in this page", onclick: () => (bench.open = true) });
    document.querySelector("h1 + p").append(", or ", way); // which ends with the command that checks
  }
  for (const button of bench.querySelectorAll("[data-ask]")) {
    button.onclick = () => ({ check, climb })[button.dataset.ask](button);
  }
}
showReached();
