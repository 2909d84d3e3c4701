"""GELU lacks the factor one half."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "gelu"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "gate = 0.5 * (1 + np.tanh("
WRONG = "gate = 1 * (1 + np.tanh("
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
