"""The row of ones that sums the gradient of the bias is float64, and so is what comes out."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear_backward(dy, cache):
    dx, dweight, _ = right(dy, cache)
    rows = dy.reshape(-1, dy.shape[-1])
    return dx, dweight, np.ones(len(rows)) @ rows
