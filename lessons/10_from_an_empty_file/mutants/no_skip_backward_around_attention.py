"""The gradient does not take the skip connection around attention."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "        dx = dx + dbranch\n    grads"
WRONG = "        dx = dbranch\n    grads"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
