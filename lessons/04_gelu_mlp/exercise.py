"""Lesson 4: GELU and the MLP. Fill in the functions, then run: pytest lessons/04_gelu_mlp"""

import math  # noqa: F401 - math.sqrt and math.pi are plain numbers: they leave float32 as it is

import numpy as np  # noqa: F401 - you will want it

from tinyvit.ops import erf, linear, linear_backward  # noqa: F401 - erf works on arrays, as np.exp does


def gelu(x, form="tanh"):
    """GELU of every number of x, form 'exact' or 'tanh'; return y, shaped and typed as x, and a cache."""
    raise NotImplementedError("write gelu: equation gelu 1 for 'exact', 2 or 3 for 'tanh'")


def gelu_backward(dy, cache):
    """dx, shaped as dy. The cache has to say which form it was."""
    raise NotImplementedError("write gelu_backward: dy times the slope at x, which depends on the form")


def mlp(x, weight1, bias1, weight2, bias2, gelu_form="tanh"):
    """x (..., D), weight1 (D, M), bias1 (M,), weight2 (M, O), bias2 (O,); return y (..., O) and a cache."""
    raise NotImplementedError("write mlp: widen, bend, narrow; the cache holds the caches of all three")


def mlp_backward(dy, cache):
    """dx (..., D), dweight1 (D, M), dbias1 (M,), dweight2 (M, O), dbias2 (O,), in this order."""
    raise NotImplementedError("write mlp_backward: the three backwards, from the last to the first")


def guilty_gelu():
    """The name of the backward in suspects.py that is wrong, and an input (x,) that exposes it.

    x is a float64 array of a few dozen numbers at most; on it only the guilty one's gradient is off.
    """
    raise NotImplementedError("return the name of a suspect, and a tuple with one input x")


# The puzzle: the MLP of Llama, in which one hidden layer decides how much of another passes.


def swiglu_backward(dy, x, weight_a, weight_b, weight_out):
    """dx (..., D), dweight_a (D, M), dweight_b (D, M), dweight_out (M, D) from dy (..., D), with no cache.

    Forward: a, b = x @ weight_a, x @ weight_b; gate = 1 / (1 + np.exp(-a)); y = (a * gate * b) @ weight_out.
    """
    raise NotImplementedError("write swiglu_backward: draw the graph first; x and a are used twice")
