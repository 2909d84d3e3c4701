"""The tanh form forward, the slope of the exact one backward."""

import math
from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import erf

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def gelu_backward(dy, cache):
    x, *_ = cache
    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return dy * ((1 + erf(x / math.sqrt(2))) / 2 + x * density)
