"""Softmax subtracts the largest of all scores, and rows far below it become 0 / 0."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "far scores"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
globals().update(changed(SOLUTION, ("np.exp(x - x.max(axis=-1, keepdims=True))", "np.exp(x - x.max())")))
