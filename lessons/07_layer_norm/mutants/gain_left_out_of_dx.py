"""dy is taken for the gradient at n: the gain is left out."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import layer_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm_backward(dy, cache):
    n, r, weight = cache
    dx, _, _ = right(dy, (n, r, np.ones_like(weight)))
    return dx, *right(dy, cache)[1:]
