// Gives np.matmul the loops of matmul.wasm for float32 and float64, if it finds the place and they are right.

const made = [];

// To be called before Pyodide is loaded: its memory, which the loops share, is caught when it is made.
export function watchMemory() {
  const { Memory } = WebAssembly;
  WebAssembly.Memory = class extends Memory {
    constructor(limits) {
      super(limits);
      made.push(this);
    }
  };
}

// Where the fields of a ufunc are (PyUFuncObject, numpy/ufuncobject.h), in words of 32 bits.
const UFUNC = { nin: 2, nout: 3, functions: 6, data: 7, ntypes: 8, name: 10, types: 11 };
const LOOPS = { matmul_float: 11, matmul_double: 12 }; // NPY_FLOAT, NPY_DOUBLE

// Products on which the loops are tried: sizes that are no multiples, transposed, with steps, with gaps.
const TRIED = `
import numpy as np

def products():
    rng = np.random.default_rng(0)
    for dtype in "f", "d":
        for m, k, n in (1, 1, 1), (3, 5, 7), (17, 2100, 33), (2, 0, 3):
            a, b = rng.normal(size=(2, m, k)).astype(dtype), rng.normal(size=(2, k, n)).astype(dtype)
            yield a @ b
            yield np.swapaxes(b, 1, 2) @ np.swapaxes(a, 1, 2)
            yield a[:, ::-1, ::2] @ b[:, ::2, ::-3]
            yield a[0, 0] @ b[0]
`;

// Whether the loops are in place. NumPy keeps its own if anything is not as expected.
export function fastMatmul(py, bytes) {
  const { wasmTable, HEAP8 } = py._module;
  const memory = made.find((each) => each.buffer === HEAP8.buffer);
  if (!memory) return false;
  const words = () => new Uint32Array(memory.buffer);
  const names = py.toPy({});
  py.runPython(`${TRIED}\nbefore, scratch = list(products()), np.empty(70000, np.uint8)`, { globals: names });
  const number = (expression) => py.runPython(expression, { globals: names });
  const field = (name) => words()[number("id(np.matmul)") / 4 + UFUNC[name]];
  const text = (address) => new TextDecoder().decode(new Uint8Array(memory.buffer, address, 7));
  if (field("nin") !== 2 || field("nout") !== 1 || text(field("name")) !== "matmul\0") return false;

  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  const scratch = Math.ceil(number("scratch.ctypes.data") / 16) * 16;
  const types = [...new Uint8Array(memory.buffer, field("types"), 3 * field("ntypes"))];
  const undo = [];
  const put = (address, value) => {
    undo.push([address, words()[address]]);
    words()[address] = value;
  };
  for (const [name, type] of Object.entries(LOOPS)) {
    const i = types.findIndex((_, i) => i % 3 === 0 && types.slice(i, i + 3).every((each) => each === type)) / 3;
    if (i < 0) continue;
    const slot = wasmTable.grow(1);
    wasmTable.set(slot, exports[name]);
    put(field("functions") / 4 + i, slot);
    put(field("data") / 4 + i, scratch);
  }
  const isRight = number("all(np.allclose(x, y, 1e-4, 1e-4) for x, y in zip(before, products(), strict=True))");
  if (!isRight || !undo.length) {
    for (const [address, value] of undo) words()[address] = value;
    return false;
  }
  py.globals.set("_scratch_of_matmul", names.get("scratch")); // which must not be freed
  return true;
}
