"""LayerNorm does not multiply by its gain."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "return n * weight + bias, (n"
WRONG = "return n + bias, (n"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
