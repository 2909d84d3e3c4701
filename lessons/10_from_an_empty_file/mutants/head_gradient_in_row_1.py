"""The head's dx goes to row 1 of the tokens."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "linear"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "dy[:, 0] = dtoken"
WRONG = "dy[:, 1] = dtoken"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
