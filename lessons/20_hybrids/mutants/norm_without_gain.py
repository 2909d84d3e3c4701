"""The gradient that reaches n is taken to be dy: the gain is left out."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import group_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def group_norm_backward(dy, cache):
    n, r, weight, groups = cache
    dx, _, _ = right(dy, (n, r, np.ones_like(weight), groups))
    return dx, *right(dy, cache)[1:]
