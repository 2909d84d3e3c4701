"""The gradient does not take the skip connection around the MLP."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "dx = dy + dbranch"
WRONG = "dx = dbranch"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
