"""The backward of GroupNorm multiplies into the n that the forward has kept."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import group_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def group_norm_backward(dy, cache):
    gradients = right(dy, cache)
    n = cache[0]
    n *= cache[2]
    return gradients
