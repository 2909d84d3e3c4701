"""Predictions are made from other numbers than those that were learned."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "predict"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = 'normalise(batch, like=params["position"])'
WRONG = "(batch / 255).astype(np.float32)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
