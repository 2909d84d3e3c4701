"""dweight sums over one axis of images, so a fourth axis is left over in the products."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear_backward(dy, cache):
    rows, _ = cache
    dx, _, dbias = right(dy, cache)
    x = rows.reshape(*dy.shape[:-1], -1)
    dweight = x.swapaxes(-1, -2) @ dy if dy.ndim > 1 else np.outer(x, dy)
    return dx, dweight.sum(axis=0) if dweight.ndim > 2 else dweight, dbias
