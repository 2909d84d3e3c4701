"""The MLP's result replaces the tokens instead of being added."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "skip connection"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "return x + m, ("
WRONG = "return m, ("
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
