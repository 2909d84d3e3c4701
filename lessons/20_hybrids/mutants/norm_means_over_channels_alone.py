"""The means in dx divide by the channels of a group: the number of positions is forgotten."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import group_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def group_norm_backward(dy, cache):
    n, r, weight, _ = cache
    dx, dweight, dbias = right(dy, cache)
    direct = (dy.reshape(n.shape) * weight * r).reshape(dy.shape)
    return direct - n.shape[1] * (direct - dx), dweight, dbias
