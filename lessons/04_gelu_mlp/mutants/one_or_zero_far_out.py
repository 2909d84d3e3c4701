"""Beyond 3 the slope is rounded to 1 or 0, which is off by one part in a hundred."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import gelu_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu_backward(dy, cache):
    x = cache[0]
    return np.where(np.abs(x) > 3, dy * (x > 0), right(dy, cache)).astype(dy.dtype)
