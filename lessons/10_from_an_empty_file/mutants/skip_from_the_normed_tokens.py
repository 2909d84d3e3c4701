"""The MLP's result is added to the normalised tokens."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "x = x + m"
WRONG = "x = n + m"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
