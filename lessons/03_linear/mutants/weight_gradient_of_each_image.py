"""dweight is a batched product, one for each image, and the images are never added up."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear_backward(dy, cache):
    rows, _ = cache
    dx, _, dbias = right(dy, cache)
    x = rows.reshape(*dy.shape[:-1], -1)
    return dx, x.swapaxes(-1, -2) @ dy, dbias
