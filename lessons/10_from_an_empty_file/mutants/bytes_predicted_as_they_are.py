"""Predictions are made from bytes that are not normalised."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "predict"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = 'normalise(batch, like=params["position"])'
WRONG = "batch.astype(np.float32)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
