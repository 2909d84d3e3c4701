"""The image is cut by a reshape alone."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "patchify"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, (".swapaxes(2, 3).reshape(B, -1", ".reshape(B, -1")))
