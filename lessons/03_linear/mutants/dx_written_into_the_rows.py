"""The gradient of x is written over the rows in the cache, which are the caller's x."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear_backward(dy, cache):
    rows, _ = cache
    dx, dweight, dbias = right(dy, cache)
    rows[...] = dx.reshape(rows.shape)
    return rows.reshape(dx.shape), dweight, dbias
