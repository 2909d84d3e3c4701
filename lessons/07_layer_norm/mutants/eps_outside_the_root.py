"""eps is added to the standard deviation instead of the variance."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm(x, weight, bias, eps=1e-6):
    r = 1 / (x.std(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) * r
    return n * weight + bias, (n, r, weight)
