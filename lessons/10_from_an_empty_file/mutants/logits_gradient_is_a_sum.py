"""The gradient of the logits is not divided by the number of images."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "cross_entropy"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "    dlogits /= len(labels)\n"
WRONG = ""
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
