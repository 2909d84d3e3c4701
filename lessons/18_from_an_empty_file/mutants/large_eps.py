"""LayerNorm adds 0.01 under the root instead of 0.000001."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, ("+ 1e-6)", "+ 1e-2)")))
