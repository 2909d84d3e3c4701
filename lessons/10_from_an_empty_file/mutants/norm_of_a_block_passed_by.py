"""The gradient goes around the second LayerNorm of a block unchanged."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "layer_norm"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "        dx = dx + dbranch\n        dn, *dattn"
WRONG = "        dx = dx + dn\n        dn, *dattn"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
