"""The head's dx goes to row 1 of the tokens."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "linear"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "dx[:, 0], *dhead"
WRONG = "dx[:, 1], *dhead"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
