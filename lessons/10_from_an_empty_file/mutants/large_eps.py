"""LayerNorm adds 0.01 under the root instead of 0.000001."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "keepdims=True) + 1e-6)"
WRONG = "keepdims=True) + 1e-2)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
