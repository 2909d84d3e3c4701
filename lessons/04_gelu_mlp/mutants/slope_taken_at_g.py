"""The slope of GELU is taken at what came out of it instead of what went in."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import gelu, gelu_backward, linear_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def mlp_backward(dy, cache):
    cache1, (h, gate, form), cache2 = cache
    dg, dweight2, dbias2 = linear_backward(dy, cache2)
    _, cache_at_g = gelu(h * gate, form)
    dx, dweight1, dbias1 = linear_backward(gelu_backward(dg, cache_at_g), cache1)
    return dx, dweight1, dbias1, dweight2, dbias2
