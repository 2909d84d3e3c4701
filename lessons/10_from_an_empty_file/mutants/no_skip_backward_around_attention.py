"""The gradient does not take the skip connection around attention."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "return dx + dbranch, *dnorm1"
WRONG = "return dbranch, *dnorm1"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
