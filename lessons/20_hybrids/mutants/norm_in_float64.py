"""The backward of GroupNorm takes its means with a float64 array."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import group_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def group_norm_backward(dy, cache):
    dx, dweight, dbias = right(dy, cache)
    return dx * np.ones(dy.shape), dweight, dbias
