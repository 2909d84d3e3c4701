"""The head starts at random values."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "init"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, ('len(shape) == 2 and name != "head.weight"', "len(shape) == 2")))
