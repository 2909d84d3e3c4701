"""GELU lacks the factor one half."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "gelu"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "gate = 0.5 * (1 + np.tanh(u))"
WRONG = "gate = 1 + np.tanh(u)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
