"""The gradient of the bias is summed over the first axis only: a sum over images, but not over tokens."""

from importlib import import_module

from tinyvit.ops import linear
from tinyvit.ops import linear_backward as right

__all__ = ["linear", "linear_backward", "unbroadcast"]

unbroadcast = import_module("lessons.04_linear.solution").unbroadcast


def linear_backward(dy, cache):
    dx, dweight, _ = right(dy, cache)
    return dx, dweight, dy.sum(axis=0)
