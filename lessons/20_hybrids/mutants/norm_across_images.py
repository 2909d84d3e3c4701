"""The two means of GroupNorm run over all images together, as in batch normalisation."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import group_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def group_norm_backward(dy, cache):
    n, r, weight, groups = cache
    g = (dy.reshape(n.shape) * weight).reshape(*n.shape[:2], groups, -1)
    split = n.reshape(g.shape)
    rest = g - g.mean(axis=(0, 1, 3), keepdims=True)
    rest = rest - split * (g * split).mean(axis=(0, 1, 3), keepdims=True)
    return (rest.reshape(n.shape) * r).reshape(dy.shape), *right(dy, cache)[1:]
