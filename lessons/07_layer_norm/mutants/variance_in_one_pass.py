"""The variance is the mean of the squares less the square of the mean, which cancels in float32."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm(x, weight, bias, eps=1e-6):
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x * x).mean(axis=-1, keepdims=True) - mean * mean
    r = 1 / np.sqrt(np.maximum(variance, 0) + eps)
    n = (x - mean) * r
    return n * weight + bias, (n, r, weight)
