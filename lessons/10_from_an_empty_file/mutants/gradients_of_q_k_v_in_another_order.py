"""The gradients of queries and values change places."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "np.stack([dq, dk, dv])"
WRONG = "np.stack([dv, dk, dq])"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
