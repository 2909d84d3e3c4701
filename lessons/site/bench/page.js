// The bench of this page, if it has one, and what is kept in this browser.

export const bench = document.getElementById("bench");
export const lesson = bench?.dataset.lesson;
export const one = (selector) => bench.querySelector(selector);

export function make(tag, properties = {}, ...contents) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...contents);
  return element;
}

// What is kept in this browser: "file 06_attention/exercise.py" and "reached 06_attention".

export const PREFIX = "tinyvit ";

export function kept(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

// Keep a text, or forget it if it is null; whether the browser allows that.
export function keep(name, text) {
  try {
    if (text === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, text);
    return true;
  } catch {
    return false;
  }
}

// The reader's files, by their paths in lessons/: those that are kept, and this page's as it stands.
export function files() {
  const start = `${PREFIX}file `;
  let names = [];
  try {
    names = Object.keys(localStorage).filter((name) => name.startsWith(start));
  } catch {} // then only this page's is known
  const found = Object.fromEntries(names.map((name) => [name.slice(start.length), localStorage.getItem(name)]));
  const field = bench?.querySelector("textarea");
  return field ? { ...found, [`${lesson}/exercise.py`]: field.value } : found;
}
