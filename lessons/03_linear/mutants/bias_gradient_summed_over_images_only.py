"""The gradient of the bias is summed over the first axis only: over the images, but not over the tokens."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear_backward(dy, cache):
    dx, dweight, _ = right(dy, cache)
    return dx, dweight, dy.sum(axis=0)
