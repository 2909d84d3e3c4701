"""The head starts at random values."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "init"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = 'len(shape) == 2 and name != "head.weight"'
WRONG = "len(shape) == 2"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
