"""dweight is a batched product, one for each image, and the images are never added up."""

from importlib import import_module

from tinyvit.ops import linear
from tinyvit.ops import linear_backward as right

__all__ = ["linear", "linear_backward", "unbroadcast"]

unbroadcast = import_module("lessons.04_linear.solution").unbroadcast


def linear_backward(dy, cache):
    rows, _ = cache
    dx, _, dbias = right(dy, cache)
    x = rows.reshape(*dy.shape[:-1], -1)
    return dx, x.swapaxes(-1, -2) @ dy, dbias
