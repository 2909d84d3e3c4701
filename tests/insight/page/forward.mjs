// Runs the worker's functions of a page outside a browser: node forward.mjs PAGE JOBS, both files.
//
// A job is { pixels, changes, target } and its answer { logits, attention, lengths, rollout, seen, gradient, back }, where
// seen has the shape of every array by its name, gradient is that of the pixels, and back has the sizes of all, by name. The last line of output is JSON: { answers, steps, erf, milliseconds }.

import { readFileSync } from "node:fs";

const page = readFileSync(process.argv[2], "utf8");
const jobs = JSON.parse(readFileSync(process.argv[3], "utf8"));

const worker = [...page.matchAll(/<script type="text\/plain" class="worker">(.*?)<\/script>/gs)].map((found) => found[1]);
const contents = JSON.parse(page.match(/<script type="application\/json" id="model">(.*?)<\/script>/s)[1]);
const steps = [...page.matchAll(/<script>(.*?)<\/script>/gs)]
  .map((found) => found[1])
  .filter((script) => /const EXPLAINED|function stepsOf\(/.test(script));

const names = "decodeWeights, forward, backward, rollout, erf, stepsOf";
const made = new Function(`${[...worker, ...steps].join("\n")}\nreturn { ${names} };`)();

const { config } = contents;
const model = { config, params: made.decodeWeights(contents.weights, contents.rows) };
const times = [];
const answers = jobs.map(({ pixels, changes, target }) => {
  const [seen, kept, back] = [{}, {}, {}];
  const start = performance.now();
  const result = made.forward(model, Uint8Array.from(pixels), changes, (name, array, shape) => {
    seen[name] = [array.length, shape];
    kept[name] = array;
  });
  times.push(performance.now() - start);
  const gradient = made.backward(model, kept, target, changes, (name, array) => (back[name] = array.length));
  const rolled = made.rollout(result.attention, config.heads, config.tokens, changes.off);
  const lists = (arrays) => arrays.map((array) => [...array]);
  return {
    logits: [...result.logits],
    attention: lists(result.attention),
    lengths: lists(result.lengths),
    rollout: lists(rolled),
    seen,
    gradient: [...gradient],
    back,
  };
});
times.sort((a, b) => a - b);
const erf = [-7, -1.5, -0.3, 0, 1e-4, 0.7, 2, 4, 9].map((x) => [x, made.erf(x)]);
const listed = made.stepsOf(config).map(({ name, shape }) => ({ name, shape }));
console.log(JSON.stringify({ answers, steps: listed, erf, milliseconds: times[times.length >> 1] }));
