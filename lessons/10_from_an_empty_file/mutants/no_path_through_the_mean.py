"""LayerNorm's backward forgets that the mean was subtracted."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "scale * (g - g.mean(axis=-1, keepdims=True) - n"
WRONG = "scale * (g - n"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
