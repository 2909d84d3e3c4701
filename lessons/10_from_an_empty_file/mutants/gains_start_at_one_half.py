"""The gains of the norms do not start at 1."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "init"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = '1.0 if "norm" in name'
WRONG = '0.5 if "norm" in name'
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
