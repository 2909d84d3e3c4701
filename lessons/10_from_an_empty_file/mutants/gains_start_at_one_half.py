"""The gains of the norms do not start at 1."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "init"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = 'f"{name}.weight": np.ones(D)'
WRONG = 'f"{name}.weight": np.full(D, 0.5)'
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
