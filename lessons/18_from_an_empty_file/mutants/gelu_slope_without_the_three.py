"""The slope of GELU's cubic term lacks its factor 3."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "gelu"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, ("1 + 3 * 0.044715 * x * x", "1 + 0.044715 * x * x")))
