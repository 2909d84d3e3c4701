"""The gradient of the values is taken with A instead of its transpose."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "dv = A.swapaxes(-1, -2) @ dmix"
WRONG = "dv = A @ dmix"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
