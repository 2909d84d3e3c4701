"""Mean and variance are taken over the first axis: that is batch normalisation."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm(x, weight, bias, eps=1e-6):
    r = 1 / np.sqrt(x.var(axis=0, keepdims=True) + eps)
    n = (x - x.mean(axis=0, keepdims=True)) * r
    return n * weight + bias, (n, r, weight)
