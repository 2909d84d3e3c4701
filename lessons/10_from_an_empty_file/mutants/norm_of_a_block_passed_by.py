"""The gradient goes around the second LayerNorm of a block unchanged."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "dx = dy + dbranch"
WRONG = "dx = dy + dn"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
