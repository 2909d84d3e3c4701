"""dweight is summed over all rows, dbias over the first axis and then averaged."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import layer_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm_backward(dy, cache):
    dx, dweight, _ = right(dy, cache)
    return dx, dweight, dy.sum(axis=0).reshape(-1, dy.shape[-1]).mean(axis=0) if dy.ndim > 1 else dy
