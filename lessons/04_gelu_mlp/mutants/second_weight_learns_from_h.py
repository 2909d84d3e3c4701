"""The gradient of the second weight is taken with h, what went into GELU, instead of g."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import mlp_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def mlp_backward(dy, cache):
    dx, dweight1, dbias1, _, dbias2 = right(dy, cache)
    h = cache[1][0]
    dweight2 = h.reshape(-1, h.shape[-1]).T @ dy.reshape(-1, dy.shape[-1])
    return dx, dweight1, dbias1, dweight2, dbias2
