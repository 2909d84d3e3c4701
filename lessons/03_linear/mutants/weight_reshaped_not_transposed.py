"""The weight gets the shape of its transpose by a reshape: the shapes fit, the numbers do not."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear_backward(dy, cache):
    _, weight = cache
    _, dweight, dbias = right(dy, cache)
    return dy @ weight.reshape(weight.shape[::-1]), dweight, dbias
