"""The gradient of the keys is taken with dS instead of its transpose."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "dS.swapaxes(-1, -2) @ q"
WRONG = "dS @ q"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
