"""The gradient of LayerNorm's gain contains the gain."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "(dy * n).reshape(-1, D)"
WRONG = "(dn * n).reshape(-1, D)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
