"""The gradient of the positions is a mean over the images."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "position"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "dx.sum(axis=0)\n"
WRONG = "dx.mean(axis=0)\n"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
