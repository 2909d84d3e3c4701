"""Time this lesson's GELU in pieces of one row and more, and write pieces.json beside this file.

    python -m lessons.26_fast_cpu.figures.measure_pieces

takes some seconds, on a machine with nothing else to do. All sizes of a piece take turns.
"""

import importlib
import json
import time
from pathlib import Path

import numpy as np

from tinyvit.engine.blas import keep_freed_memory

solution = importlib.import_module("lessons.26_fast_cpu.solution")
machine = importlib.import_module("lessons.25_memory.figures.measure").machine

HERE = Path(__file__).parent
SHAPE = (650, 768)  # of Ti/4's hidden layer for 10 images
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 650)
ROUNDS = 101


def main():
    keep_freed_memory()
    h = np.random.default_rng(0).standard_normal(SHAPE, dtype=np.float32)
    seconds = np.array([[time_pieces(h.copy(), rows) for rows in ROWS] for _ in range(ROUNDS)])
    milliseconds = (1e3 * np.median(seconds, axis=0)).round(3).tolist()
    for rows, each in zip(ROWS, milliseconds, strict=True):
        print(f"{rows:4} rows  {each:6.2f} ms")
    result = {"machine": machine(1), "shape": SHAPE, "rows": ROWS, "milliseconds": milliseconds}
    (HERE / "pieces.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def time_pieces(h, rows):
    """Seconds for h in pieces of so many rows."""
    solution.PIECE = rows * h.shape[1]
    start = time.perf_counter()
    solution.gelu_and_slope(h)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
