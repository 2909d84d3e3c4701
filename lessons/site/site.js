// A button that copies what a block of code says, and the menu scrolled to the page that is open.
for (const block of document.querySelectorAll(".code")) {
  const button = Object.assign(document.createElement("button"), { textContent: "Copy" });
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(block.dataset.copy ?? block.querySelector("pre").textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  block.append(button);
}
const menu = document.getElementById("contents");
const here = menu.querySelector("[aria-current]");
if (here && getComputedStyle(menu).position === "sticky") {
  menu.scrollTop = here.offsetTop - menu.clientHeight / 2;
}

// Search: the sections in which all words occur, those with them in their headings first.
const site = new URL(".", document.currentScript.src);
const field = document.getElementById("search");
function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  for (const [address, page, heading, text] of words.length ? SECTIONS : []) {
    const counts = words.map((word) => {
      const count = (place) => place.toLowerCase().split(word).length - 1;
      return 20 * count(heading) + 5 * count(page) + count(text);
    });
    if (Math.min(...counts) > 0) found.push({ address, page, heading, text, score: Math.min(...counts) });
  }
  const best = found.sort((a, b) => b.score - a.score).slice(0, 10);
  const rows = best.map(({ address, page, heading, text }) => {
    const link = document.createElement("a");
    link.href = new URL(address, site);
    link.textContent = heading === page ? page : `${page}: ${heading}`;
    const from = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
    const whole = text.slice(from, from + 130).replace(from ? /^\S* / : "", "").replace(/ \S*$/, " ...");
    const excerpt = Object.assign(document.createElement("small"), { textContent: whole });
    const row = document.createElement("li");
    row.append(link, excerpt);
    return row;
  });
  document.getElementById("hits").replaceChildren(...rows);
}
field.oninput = () => typeof SECTIONS === "object" && search();
// The sections are fetched once, as a script, which a page from a file may load, too.
field.onfocus = () => {
  field.onfocus = null;
  const script = Object.assign(document.createElement("script"), { src: new URL("search.js", site) });
  script.onload = search;
  document.head.append(script);
};

// The page in which a model runs says how tall it is.
addEventListener("message", ({ source, data }) => {
  const frame = document.querySelector("iframe");
  if (frame && source === frame.contentWindow) frame.style.height = `${data.height}px`;
});

// The bench needs a server: scripts of a file may not start Python.
const serve = document.getElementById("serve");
if (location.protocol !== "file:") {
  import(new URL("bench/bench.js", site));
} else if (serve) {
  const folder = decodeURIComponent(site.pathname);
  serve.textContent = `To write and check this in the page, run python -m http.server --directory "${folder}" and open localhost:8000.`;
  serve.hidden = false;
}
