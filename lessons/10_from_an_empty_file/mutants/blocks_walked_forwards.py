"""The blocks are walked from the first to the last on the way back."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "blocks"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = 'reversed(range(config["layers"]))'
WRONG = 'range(config["layers"])'
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
