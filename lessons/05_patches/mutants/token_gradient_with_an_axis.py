"""The gradient of the token keeps an axis of length 1."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def class_token_backward(dy, cache):
    return dy[:, 1:], dy[:, :1].sum(axis=0)
