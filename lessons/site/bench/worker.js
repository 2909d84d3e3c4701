// CPython, NumPy and the course beside a page: does what bench.js asks for, one thing after the other.

import { fastMatmul, watchMemory } from "./matmul.js";

const here = (name) => new URL(name, import.meta.url).href;
const say = (kind, text) => postMessage({ kind, text });

// Of Pyodide, only the files named in parts.json are fetched, and each must be the one with its hash.
function fetchOnly(parts) {
  const { fetch } = self;
  const from = here(parts.from);
  self.fetch = (address, options) => {
    const name = String(address).startsWith(from) && String(address).slice(from.length);
    if (name && !parts.files[name]) throw new Error(`${name} is no part of the bench`);
    return fetch(address, name ? { ...options, integrity: parts.files[name] } : options);
  };
  return from;
}

async function get(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status} ${answer.statusText}`);
  return answer;
}

const bytes = async (address) => (await get(address)).arrayBuffer();

// A script, once its hash is right: importing its address would not compare.
async function imported(address) {
  const text = await (await get(address)).text();
  return import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}

async function load() {
  say("loading", "fetching Python ...");
  const parts = await (await get(here("parts.json"))).json();
  const from = fetchOnly(parts);
  const wheels = Object.keys(parts.files).filter((name) => name.endsWith(".whl"));
  const archives = Promise.all([here("course.zip"), ...wheels.map((name) => from + name)].map(bytes));
  watchMemory();
  const [{ loadPyodide }] = await Promise.all(["pyodide.mjs", "pyodide.asm.js"].map((name) => imported(from + name)));
  const lock = { info: parts.lock, packages: {} };
  const py = await loadPyodide({ indexURL: from, lockFileURL: `data:,${encodeURIComponent(JSON.stringify(lock))}` });
  say("loading", "unpacking NumPy and the course ...");
  const [course, ...packages] = await archives;
  const site = py.runPython("import sysconfig; sysconfig.get_path('purelib')");
  for (const each of packages) py.unpackArchive(each, "wheel", { extractDir: site });
  py.unpackArchive(course, "zip", { extractDir: "/course" });
  py.runPython(`
    import os, sys
    os.chdir("/course")
    os.environ["COLUMNS"] = "100"
    sys.path.insert(0, "/course")
    sys.dont_write_bytecode = True  # a file that changes twice within a second would not be read again
  `);
  const isFast = fastMatmul(py, await bytes(here("matmul.wasm")));
  say("loading", "reading the course ...");
  const page = py.pyimport("lessons.site.bench.in_page");
  say("loading", isFast ? "Python is ready." : "Python is ready; products of matrices are slow in this browser.");
  return [py, page];
}

let ready = null;

onmessage = async ({ data }) => {
  try {
    ready ??= load().catch((error) => {
      throw new Error(`Python cannot be loaded: ${error.message}`);
    });
    const [py, page] = await ready;
    if (data.what === "load") return;
    say("loading", "running ...");
    page.write(py.toPy(data.files));
    const tell = (text) => say("told", text);
    const answer = {
      check: () => page.check(data.lesson, tell),
      run: () => page.run(data.page, py.toPy(data.listings), tell),
      climb: () => page.climb(data.impl, tell),
    }[data.what]();
    say("done", answer);
  } catch (error) {
    say("failed", String(error.message ?? error).slice(-3000));
  }
};
