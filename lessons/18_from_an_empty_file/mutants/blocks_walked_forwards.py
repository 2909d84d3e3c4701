"""The blocks are walked from the first to the last on the way back."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "blocks"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(changed(SOLUTION, ('reversed(range(config["layers"]))', 'range(config["layers"])')))
