"""The gradient of the token is summed over the positions too, as if it had been added to every one."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def class_token_backward(dy, cache):
    return dy[:, 1:], dy.sum(axis=(0, 1))
