"""The gradient of the values lacks the attention."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "A.swapaxes(-1, -2) @ do"
WRONG = "do"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
