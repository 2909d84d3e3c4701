"""The heads are put side by side by a reshape alone."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, ("(A @ v).swapaxes(1, 2).reshape", "(A @ v).reshape")))
