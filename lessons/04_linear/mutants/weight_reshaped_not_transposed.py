"""The weight gets the shape of its transpose by a reshape: the shapes fit, the numbers do not."""

from importlib import import_module

from tinyvit.ops import linear
from tinyvit.ops import linear_backward as right

__all__ = ["linear", "linear_backward", "unbroadcast"]

unbroadcast = import_module("lessons.04_linear.solution").unbroadcast


def linear_backward(dy, cache):
    _, weight = cache
    _, dweight, dbias = right(dy, cache)
    return dy @ weight.reshape(weight.shape[::-1]), dweight, dbias
