"""Mean and variance are taken over axis 1, which is the last one only where there are two."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm(x, weight, bias, eps=1e-6):
    axis = min(1, x.ndim - 1)
    r = 1 / np.sqrt(x.var(axis=axis, keepdims=True) + eps)
    n = (x - x.mean(axis=axis, keepdims=True)) * r
    return n * weight + bias, (n, r, weight)
