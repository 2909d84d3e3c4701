"""The matrix S has no dtype of its own, and turns the gradient into float64."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops.corruption import MASKED

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def corrupt_backward(dy, cache):
    S = (cache[:, :, None] == np.arange(cache.shape[1])).astype(float)
    return S.transpose(0, 2, 1) @ dy, dy[cache == MASKED].sum(axis=0)
