"""The slope of GELU's cubic term lacks its factor 3."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "gelu"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "1 + 3 * 0.044715 * x * x"
WRONG = "1 + 0.044715 * x * x"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
