// The bench of a page: the editor with the lesson's exercise, its checks, and a button beside every listing.
// Python runs in worker.js, which starts when the reader opens the bench or runs something.

import { setUpEditor } from "./editor.js";
import { climb } from "./ladder.js";
import { bench, files, lesson, make, one } from "./page.js";
import { ask, python, stop } from "./python.js";
import { check, showReached } from "./verdicts.js";

const listings = [...document.querySelectorAll(".code:not([data-copy])")];

function setUpListing(block, i) {
  const place = make("pre", { className: "output yours", hidden: true });
  const button = make("button", { textContent: "Run", className: "run" });
  button.onclick = async () => {
    if (stop(button)) return;
    const codes = listings.slice(0, i + 1).map((each) => each.querySelector("pre").textContent);
    let printed = "";
    const show = (text) => (place.textContent = printed + text);
    const tell = (told) => show((printed += told.printed) && "");
    place.hidden = false;
    try {
      const page = location.pathname;
      const ran = await ask(button, { what: "run", page, listings: codes }, { tell, say: show });
      show(ran.ran && !printed ? "(it prints nothing)" : "");
    } catch (error) {
      show(error.message);
    }
  };
  block.append(button);
  block.after(place);
}

// What a page has of all this

listings.forEach(setUpListing);
if (bench) {
  bench.hidden = false;
  bench.ontoggle = () => bench.open && python().postMessage({ what: "load", files: files() });
  if (lesson !== "mine") {
    setUpEditor();
    const way = make("a", { href: "#bench", textContent: "in this page", onclick: () => (bench.open = true) });
    document.querySelector("h1 + p").append(", or ", way); // which ends with the command that checks
  }
  for (const button of bench.querySelectorAll("[data-ask]")) {
    button.onclick = () => ({ check, climb })[button.dataset.ask](button);
  }
}
showReached();
