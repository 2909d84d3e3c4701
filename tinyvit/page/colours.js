// Colours for numbers: heat for shares, blue and orange for what may be negative.

// From lowest to highest, as in tinyvit/pictures/colours.py.
const HEAT = model.heat;

// The colour [red, green, blue] of a number from 0 to 1.
function heatColour(heat) {
  const place = Math.min(Math.max(heat, 0), 1) * (HEAT.length - 1);
  const low = Math.min(Math.floor(place), HEAT.length - 2);
  return HEAT[low].map((value, i) => value + (place - low) * (HEAT[low + 1][i] - value));
}

// The heat of a share: 0.5 for an even one, 0 for an eighth of it, 1 for eight times it.
function heatOfShare(share) {
  return 0.5 + Math.log2(Math.min(Math.max(share, 1 / 8), 8)) / 6;
}

// The pixels of a map: one for each share.
function heatPixels(shares) {
  return Uint8Array.from(Array.from(shares, (share) => heatColour(heatOfShare(share))).flat());
}

// The colour of a signed number: orange above 0, blue below, the paper's at 0, in full strength from scale
// on.
function signedColour(value, scale, paper) {
  const full = value > 0 ? [217, 117, 26] : [47, 111, 219];
  const strength = Math.min(Math.abs(value) / scale, 1);
  return paper.map((channel, i) => channel + strength * (full[i] - channel));
}

// The paper that canvases are drawn on, as [red, green, blue].
function paperColour() {
  const hex = getComputedStyle(document.documentElement).getPropertyValue("--paper").trim();
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}
