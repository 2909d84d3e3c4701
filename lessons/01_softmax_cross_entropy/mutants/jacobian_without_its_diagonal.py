"""What x_i does to its own y_i is left out: the 1 on the diagonal of the Jacobian, the lone dy."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def softmax_backward(dy, cache):
    return -cache * (dy * cache).sum(axis=-1, keepdims=True)
