"""The MLP's result is added to the normalised tokens."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "return x + m, ("
WRONG = "return n + m, ("
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
