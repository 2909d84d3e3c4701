"""The root of K is missing from the gradient of the scores."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "dS @ k / math.sqrt(K), dS.swapaxes(-1, -2) @ q / math.sqrt(K)"
WRONG = "dS @ k, dS.swapaxes(-1, -2) @ q"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
