// The model's parameters: from text in this page to named arrays of 32-bit numbers.

// The value of every 16-bit float, by its bits: a sign, 5 bits of exponent and 10 of mantissa (IEEE 754
// binary16).
function halfTable() {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits++) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const mantissa = bits & 1023;
    if (exponent === 0) table[bits] = sign * mantissa * 2 ** -24;
    else if (exponent === 31) table[bits] = mantissa ? NaN : sign * Infinity;
    else table[bits] = sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
  }
  return table;
}

// Parameters by name. rows lists [name, shape] in the order in which their numbers follow one another. Each
// text holds one half for every number, and a number is the sum of its halves: the second one is what
// rounding the first one lost.
function decodeWeights(texts, rows) {
  const table = halfTable();
  const halves = texts.map((text) => new DataView(bytesOf(text).buffer));
  const flat = new Float32Array(halves[0].byteLength / 2);
  for (const half of halves) {
    for (let i = 0; i < flat.length; i++) flat[i] += table[half.getUint16(2 * i, true)];
  }
  const params = {};
  let start = 0;
  for (const [name, shape] of rows) {
    const size = shape.reduce((product, side) => product * side, 1);
    params[name] = flat.subarray(start, start + size);
    start += size;
  }
  return params;
}

// The bytes that a base64 text stands for.
function bytesOf(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
