"""The gradient of the offset is averaged over the positions."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import group_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def group_norm_backward(dy, cache):
    dx, dweight, dbias = right(dy, cache)
    return dx, dweight, dbias / cache[0].shape[1]
