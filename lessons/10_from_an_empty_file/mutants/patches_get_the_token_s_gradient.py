"""The patches get the gradients of rows 0 to N - 2 of the tokens."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "class_token"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "linear_backward(dx[:, 1:], patch_cache)"
WRONG = "linear_backward(dx[:, :-1], patch_cache)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
