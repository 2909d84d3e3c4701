"""The gradient of the gain is taken with n times the gain."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import layer_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm_backward(dy, cache):
    dx, dweight, dbias = right(dy, cache)
    return dx, dweight * cache[2], dbias
