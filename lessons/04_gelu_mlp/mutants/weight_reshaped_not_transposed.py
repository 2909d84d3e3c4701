"""dg is dy times W2 brought to the transposed shape by a reshape: a transpose is missing."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import gelu_backward, linear_backward

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def mlp_backward(dy, cache):
    cache1, gelu_cache, cache2 = cache
    _, dweight2, dbias2 = linear_backward(dy, cache2)
    weight2 = cache2[1]
    dg = dy @ weight2.reshape(weight2.shape[::-1])
    dx, dweight1, dbias1 = linear_backward(gelu_backward(dg, gelu_cache), cache1)
    return dx, dweight1, dbias1, dweight2, dbias2
