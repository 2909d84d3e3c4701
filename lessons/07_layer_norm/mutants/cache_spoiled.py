"""The closed form multiplies into the n that the forward has kept."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import layer_norm_backward as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def layer_norm_backward(dy, cache):
    n = cache[0]
    gradients = right(dy, cache)
    n *= (dy * cache[2] * n).mean(axis=-1, keepdims=True)
    return gradients
