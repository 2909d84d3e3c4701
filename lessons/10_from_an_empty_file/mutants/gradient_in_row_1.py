"""The gradient of the last LayerNorm's input goes to row 1 of the tokens."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "layer_norm_backward(dx, norm_cache)\n"
WRONG = "layer_norm_backward(dx, norm_cache)\n    dx = np.roll(dx, 1, axis=1)\n"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
