"""The gradient of the positions is a mean over the images."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "position"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, ("dx.sum(axis=0)\n", "dx.mean(axis=0)\n")))
