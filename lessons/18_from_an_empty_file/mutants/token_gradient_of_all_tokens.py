"""The gradient of the class token is summed over all tokens."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "class_token"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, ("dx[:, 0].sum(axis=0)", "dx.sum(axis=(0, 1))")))
