"""The gradients are returned in the order in which they are computed, the last layer first."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import mlp_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def mlp_backward(dy, cache):
    dx, dweight1, dbias1, dweight2, dbias2 = right(dy, cache)
    return dx, dweight2, dbias2, dweight1, dbias1
