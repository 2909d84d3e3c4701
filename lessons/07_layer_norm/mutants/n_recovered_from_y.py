"""The cache keeps y, and the backward divides by the gain to get n back."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import layer_norm as forward
from tinyvit.ops import layer_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm(x, weight, bias, eps=1e-6):
    y, (_, r, _) = forward(x, weight, bias, eps)
    return y, (y, r, weight, bias)


def layer_norm_backward(dy, cache):
    y, r, weight, bias = cache
    n = np.divide(y - bias, weight, out=np.zeros_like(y), where=weight != 0)
    return right(dy, (n, r, weight))
