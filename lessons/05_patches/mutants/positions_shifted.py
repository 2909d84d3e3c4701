"""dx is the first T rows of dy: every patch gets the gradient of the position before it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def class_token_backward(dy, cache):
    return dy[:, :-1], dy[:, 0].sum(axis=0)
