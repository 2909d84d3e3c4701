"""A channel whose weights are all equal divides 0 by 0 on the way back."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed
from tinyvit.ops import weight_standardisation as forward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def weight_standardisation(w, eps=1e-5):
    y, _ = forward(w, eps)
    return y, (y, w.std(axis=(0, 1, 2)), eps)


def weight_standardisation_backward(dy, cache):
    y, s, eps = cache
    axes = (0, 1, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = y * ((s + eps) / s)
    return (dy - dy.mean(axis=axes) - u * (dy * y).mean(axis=axes)) / (s + eps)
