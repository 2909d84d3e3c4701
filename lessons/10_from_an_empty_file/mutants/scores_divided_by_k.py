"""The scores are divided by K, not by its root."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "math.sqrt(x.shape[-1] // heads)"
WRONG = "x.shape[-1] // heads"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
