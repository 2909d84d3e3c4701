"""The gradient of every weight matrix is a mean over the rows."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "linear"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "rows.T @ drows, drows.sum(axis=0)"
WRONG = "rows.T @ drows / len(rows), drows.sum(axis=0)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
