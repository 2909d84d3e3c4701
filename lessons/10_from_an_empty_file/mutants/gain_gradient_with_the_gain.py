"""The gradient of LayerNorm's gain contains the gain."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "(dy * n).reshape(-1, n.shape[-1]).sum(axis=0)"
WRONG = "(g * n).reshape(-1, n.shape[-1]).sum(axis=0)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
