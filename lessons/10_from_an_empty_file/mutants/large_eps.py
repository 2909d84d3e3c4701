"""LayerNorm adds 0.01 under the root instead of 0.000001."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "+ 1e-6)"
WRONG = "+ 1e-2)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
