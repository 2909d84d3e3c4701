"""LayerNorm's backward forgets that the mean was subtracted."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "scale * (dn - dn.mean(axis=-1, keepdims=True) - n"
WRONG = "scale * (dn - n"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
