"""The parameters' gradients are averaged over the rows."""

from importlib import import_module

from tinyvit.ops import linear
from tinyvit.ops import linear_backward as right

__all__ = ["linear", "linear_backward", "unbroadcast"]

unbroadcast = import_module("lessons.04_linear.solution").unbroadcast


def linear_backward(dy, cache):
    dx, dweight, dbias = right(dy, cache)
    rows = dy.size // dy.shape[-1]
    return dx, dweight / rows, dbias / rows
