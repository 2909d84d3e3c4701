"""The root of K is missing from the gradient of the scores."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, ("A) / math.sqrt(K)\n", "A)\n")))
