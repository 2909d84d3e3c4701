"""The gradients of the parameters are averaged over the rows."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear_backward(dy, cache):
    dx, dweight, dbias = right(dy, cache)
    rows = dy.size // dy.shape[-1]
    return dx, dweight / rows, dbias / rows
