"""Predictions are made from other numbers than those that were learned."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "predict"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "normalise(part)"
WRONG = "(part / 255).astype(np.float32)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
