"""The scores are divided by K, not by its root."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, ("math.sqrt(x.shape[-1] // heads)", "x.shape[-1] // heads")))
