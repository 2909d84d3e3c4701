"""The MLP's result replaces the tokens instead of being added."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "x = x + m"
WRONG = "x = m"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
