"""LayerNorm does not multiply by its gain."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "return n * gain + bias, (n"
WRONG = "return n + bias, (n"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
