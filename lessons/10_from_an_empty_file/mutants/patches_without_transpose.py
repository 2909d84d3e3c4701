"""The image is cut by a reshape alone."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "patchify"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = ".swapaxes(2, 3).reshape(B, -1"
WRONG = ".reshape(B, -1"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
