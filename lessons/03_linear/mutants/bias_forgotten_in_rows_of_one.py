"""The rows are squeezed, so the gradients of a single row lose an axis, and its bias is summed away."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import linear_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def linear_backward(dy, cache):
    dx, dweight, dbias = right(dy, cache)
    rows = dy.reshape(-1, dy.shape[-1]).squeeze()
    return dx, dweight, rows.sum(axis=0) if rows.ndim > 1 else np.full_like(dbias, rows.sum())
