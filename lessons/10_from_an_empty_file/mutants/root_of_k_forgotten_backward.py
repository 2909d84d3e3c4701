"""The root of K is missing from the gradient of the scores."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "softmax_cache) / math.sqrt(K)"
WRONG = "softmax_cache)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
