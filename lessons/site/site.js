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
// The bench needs a server: scripts of a file may not start Python.
const serve = document.getElementById("serve");
if (location.protocol !== "file:") {
  import(new URL("bench/bench.js", document.currentScript.src));
} else if (serve) {
  const folder = decodeURIComponent(new URL(".", document.currentScript.src).pathname);
  serve.textContent = `To write and check this in the page, run python -m http.server --directory "${folder}" and open localhost:8000.`;
  serve.hidden = false;
}
