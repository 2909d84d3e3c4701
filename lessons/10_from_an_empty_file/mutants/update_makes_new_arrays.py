"""Adam's step makes new arrays, and leaves those that the caller holds as they were."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "update"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "params[name] -= lr"
WRONG = "params[name] = params[name] - lr"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
