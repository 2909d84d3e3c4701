// CPython, NumPy and the course beside a page: does what bench.js asks for, one thing after the other.

import { fastMatmul, watchMemory } from "./matmul.js";

const here = (name) => new URL(name, import.meta.url).href;
const say = (kind, text) => postMessage({ kind, text });

async function bytes(address, options) {
  const answer = await fetch(address, options);
  if (!answer.ok) throw new Error(`${address}: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

// The files of Pyodide by their addresses, each with the hash that parts.json has for it.
async function fetchPyodide(from, parts) {
  const pairs = Object.entries(parts.files).map(async ([name, integrity]) => {
    return [from + name, await bytes(from + name, { integrity })];
  });
  const lock = JSON.stringify({ info: parts.lock, packages: {} });
  return new Map([...(await Promise.all(pairs)), [`${from}pyodide-lock.json`, lock]]);
}

// From now on, requests are answered with these files, and there are no others.
function answerWith(files) {
  self.fetch = async (address) => {
    if (!files.has(String(address))) throw new Error(`${address} is no part of the bench`);
    const type = String(address).endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(files.get(String(address)), { headers: { "Content-Type": type } });
  };
}

const imported = (script) => import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));

async function load() {
  say("loading", "fetching Python ...");
  const parts = JSON.parse(new TextDecoder().decode(await bytes(here("parts.json"))));
  const from = here(parts.from);
  const [files, course, kernel] = await Promise.all([
    fetchPyodide(from, parts),
    bytes(here("course.zip")),
    bytes(here("matmul.wasm")),
  ]);
  answerWith(files);
  say("loading", "starting Python ...");
  watchMemory();
  await imported(files.get(`${from}pyodide.asm.js`));
  const { loadPyodide } = await imported(files.get(`${from}pyodide.mjs`));
  const py = await loadPyodide({ indexURL: from });
  say("loading", "unpacking NumPy and the course ...");
  const site = py.runPython("import sysconfig; sysconfig.get_path('purelib')");
  for (const [address, content] of files) {
    if (address.endsWith(".whl")) py.unpackArchive(content, "wheel", { extractDir: site });
  }
  py.unpackArchive(course, "zip", { extractDir: "/course" });
  py.runPython(`
    import os, sys
    os.chdir("/course")
    os.environ["COLUMNS"] = "100"
    sys.path.insert(0, "/course")
    sys.dont_write_bytecode = True  # a file that changes twice within a second would not be read again
  `);
  const isFast = fastMatmul(py, kernel);
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
