"""The backward goes from the second layer to the first as if nothing stood between them."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import linear_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def mlp_backward(dy, cache):
    cache1, _, cache2 = cache
    dg, dweight2, dbias2 = linear_backward(dy, cache2)
    dx, dweight1, dbias1 = linear_backward(dg, cache1)
    return dx, dweight1, dbias1, dweight2, dbias2
