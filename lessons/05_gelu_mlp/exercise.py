"""Lesson 5: GELU and the MLP. Fill in the three functions, then run: pytest lessons/05_gelu_mlp"""

import math  # noqa: F401 - math.sqrt and math.pi are plain numbers: they leave float32 as it is

import numpy as np  # noqa: F401 - you will want it

from tinyvit.ops import erf, linear, linear_backward  # noqa: F401 - erf works on arrays, as np.exp does


def gelu(x, form="tanh"):
    """GELU of every number of x, form 'exact' or 'tanh'; return y, shaped and typed as x, and a cache."""
    raise NotImplementedError("write gelu: equation gelu 1 for 'exact', 2 or 3 for 'tanh'")


def gelu_backward(dy, cache):
    """dx, shaped as dy. The cache has to say which form it was."""
    raise NotImplementedError("write gelu_backward: equation gelu 4 for 'exact', 5 for 'tanh'")


def mlp(x, weight1, bias1, weight2, bias2, gelu_form="tanh"):
    """Given: x (..., D), weight1 (D, M), bias1 (M,), weight2 (M, D), bias2 (D,); y (..., D) and cache."""
    h, cache1 = linear(x, weight1, bias1)  # (..., M)                                 eq. mlp 1
    g, gelu_cache = gelu(h, gelu_form)  # (..., M)                                    eq. mlp 2
    y, cache2 = linear(g, weight2, bias2)  # (..., D)                                 eq. mlp 3
    return y, (cache1, gelu_cache, cache2)


def mlp_backward(dy, cache):
    """dx (..., D), dweight1 (D, M), dbias1 (M,), dweight2 (M, D), dbias2 (D,), in this order."""
    raise NotImplementedError("write mlp_backward: the three lines of mlp from the last to the first")
