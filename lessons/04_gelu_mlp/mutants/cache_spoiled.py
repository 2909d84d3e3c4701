"""The backward multiplies the slope into the gate that the forward has kept."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import gelu_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu_backward(dy, cache):
    _, gate, _ = cache
    slope = right(np.ones_like(dy), cache)
    gate[...] = slope
    return dy * gate
