"""The head starts at random values."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "init"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = '"head.weight": np.zeros((D, C))'
WRONG = '"head.weight": xavier(D, C)'
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
