"""A channel whose weights are all equal divides 0 by 0 on the way back."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def weight_standardisation_backward(dy, cache):
    y, s, eps = cache
    axes = (0, 1, 2)
    u = y * ((s + eps) / s)
    return (dy - dy.mean(axis=axes) - u * (dy * y).mean(axis=axes)) / (s + eps)
