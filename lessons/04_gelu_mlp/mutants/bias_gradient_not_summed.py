"""The gradients of both biases keep the axes of images and tokens."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import gelu_backward, linear_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def mlp_backward(dy, cache):
    cache1, gelu_cache, cache2 = cache
    dg, dweight2, _ = linear_backward(dy, cache2)
    dh = gelu_backward(dg, gelu_cache)
    dx, dweight1, _ = linear_backward(dh, cache1)
    return dx, dweight1, dh, dweight2, dy
