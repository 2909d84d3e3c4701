"""Predictions are made from bytes that are not normalised."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "predict"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "normalise(part)"
WRONG = "part.astype(np.float32)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
