"""The gradient of the offset keeps the rows instead of adding them up."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import layer_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm_backward(dy, cache):
    dx, dweight, _ = right(dy, cache)
    return dx, dweight, dy
