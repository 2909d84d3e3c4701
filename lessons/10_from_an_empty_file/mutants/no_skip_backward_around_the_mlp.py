"""The gradient does not take the skip connection around the MLP."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "        dx = dx + dbranch\n        dn, *dattn"
WRONG = "        dx = dbranch\n        dn, *dattn"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
