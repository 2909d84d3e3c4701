"""The gradient of x is written into zeros that are float64, whatever dy is."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear_backward(dy, cache):
    dx, dweight, dbias = right(dy, cache)
    result = np.zeros(dx.shape)
    result += dx
    return result, dweight, dbias
