"""The gradient of every weight matrix is a mean over the rows."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "linear"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(SOLUTION, ("rows.T @ drows, drows.sum(axis=0)", "rows.T @ drows / len(rows), drows.sum(axis=0)"))
)
