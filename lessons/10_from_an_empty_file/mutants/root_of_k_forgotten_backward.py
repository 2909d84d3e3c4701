"""The root of K is missing from the gradient of the scores."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "A) / math.sqrt(K)\n"
WRONG = "A)\n"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
