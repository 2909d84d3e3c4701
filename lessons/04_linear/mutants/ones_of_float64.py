"""The row of ones that sums the bias's gradient is float64, and so is what comes out."""

from importlib import import_module

import numpy as np

from tinyvit.ops import linear
from tinyvit.ops import linear_backward as right

__all__ = ["linear", "linear_backward", "unbroadcast"]

unbroadcast = import_module("lessons.04_linear.solution").unbroadcast


def linear_backward(dy, cache):
    dx, dweight, _ = right(dy, cache)
    rows = dy.reshape(-1, dy.shape[-1])
    return dx, dweight, np.ones(len(rows)) @ rows
