"""The gradient of the class token is summed over all tokens."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "class_token"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "dx[:, 0].sum(axis=0)"
WRONG = "dx.sum(axis=(0, 1))"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
