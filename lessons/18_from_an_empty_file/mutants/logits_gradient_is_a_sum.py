"""The gradient of the logits is not divided by the number of images."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "cross_entropy"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, ("    dlogits /= len(labels)\n", "")))
