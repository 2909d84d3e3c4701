"""The gradient of the logits is not divided by the number of images."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "cross_entropy"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "(p - target) / len(p)"
WRONG = "p - target"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
