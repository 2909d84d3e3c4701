"""The path through the mean is left out."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import layer_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm_backward(dy, cache):
    n, r, weight = cache
    g = dy * weight
    return r * (g - n * (g * n).mean(axis=-1, keepdims=True)), *right(dy, cache)[1:]
