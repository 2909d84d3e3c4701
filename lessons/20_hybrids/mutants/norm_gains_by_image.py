"""The gradients of gain and offset are not summed over the images."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import group_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def group_norm_backward(dy, cache):
    products = dy.reshape(cache[0].shape) * cache[0]
    return right(dy, cache)[0], products.sum(axis=1), dy.sum(axis=(1, 2))
