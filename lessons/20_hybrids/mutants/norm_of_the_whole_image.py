"""The two means of GroupNorm run over all channels of the image instead of those of the group."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import group_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def group_norm_backward(dy, cache):
    n, r, weight, _ = cache
    return right(dy, (n, r, weight, 1))
