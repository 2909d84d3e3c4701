"""The gradient of the values lacks the attention."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "dv = A.swapaxes(-1, -2) @ dmix"
WRONG = "dv = dmix"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
