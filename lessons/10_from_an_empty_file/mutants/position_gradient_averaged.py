"""The gradient of the positions is a mean over the images."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "position"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "dposition, dclass_token = dx.sum(axis=0)"
WRONG = "dposition, dclass_token = dx.mean(axis=0)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
