import { bench, files, one } from "./page.js";

// Python: one thing at a time. tell gets what is reported meanwhile, say what Python is doing.

let worker = null;
let job = null;

export function python() {
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

// Whether Python is busy; if it is with what this button asked for, that ends now.
export function stop(button) {
  const isBusy = job !== null;
  if (isBusy && job.button === button) end("reject", new Error("Stopped."));
  return isBusy;
}

// Have Python do something; the button says Stop meanwhile.
export async function ask(button, message, { tell, say }) {
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
