"""The column of 1 / D that takes the means is float64, and so is dx."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import layer_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm_backward(dy, cache):
    n, r, weight = cache
    D = dy.shape[-1]
    g, column = dy * weight, np.full((D, 1), 1 / D)
    return r * (g - g @ column - n * ((g * n) @ column)), *right(dy, cache)[1:]
