"""The token gets the gradients of all corrupted positions, those that show another patch included."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import corrupt_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def corrupt_backward(dy, cache):
    corrupted = cache != np.arange(cache.shape[1])
    return right(dy, cache)[0], dy[corrupted].sum(axis=0)
