"""The constant of the density is a float64 number of NumPy, so the exact slope is float64."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import gelu_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu_backward(dy, cache):
    x, gate, form = cache
    if form == "tanh":
        return right(dy, cache)
    return dy * (gate + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi))
