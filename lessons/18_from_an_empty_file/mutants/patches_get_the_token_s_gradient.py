"""The patches get the gradients of rows 0 to N - 2 of the tokens."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "class_token"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(SOLUTION, ("linear_backward(dx[:, 1:], patch)", "linear_backward(dx[:, :-1], patch)"))
)
