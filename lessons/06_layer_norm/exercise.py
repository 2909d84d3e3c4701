"""Lesson 6: LayerNorm. Fill in the functions, then run: pytest lessons/06_layer_norm"""

import numpy as np

from tinyvit.checking import check_gradients  # noqa: F401 - the tool of lesson 3, for trust_layer_norm


def layer_norm(x, weight, bias, eps=1e-6):
    """Normalise the last axis of x (..., D), then apply gain and offset, weight and bias (D,).

    Return y (..., D) and a cache, which both backwards get.
    """
    raise NotImplementedError("write layer_norm: equations 1 and 2, and keep what the backward will need")


def layer_norm_backward_graph(dy, cache):
    """dx (..., D), dweight (D,), dbias (D,), by following the graph: three paths from x to n, added up."""
    raise NotImplementedError("write layer_norm_backward_graph: the two paths of the text, and the third")


def layer_norm_backward(dy, cache):
    """The same three gradients, dx by the closed form."""
    raise NotImplementedError("write layer_norm_backward: g without its shadow on the plane, times r")


def trust_layer_norm(forward, backward):
    """Whether backward(dy, cache) returns the right dx, dweight, dbias: True or False, from gradient checks.

    forward(x, weight, bias, eps=1e-6) is right and returns (y, cache); only the backward may be wrong.
    """
    raise NotImplementedError("write trust_layer_norm: check_gradients on inputs on which nothing can hide")


# The puzzle: no mean is subtracted, and r is measured on the first numbers of each row only.


def rms_norm(x, weight, first, eps=1e-6):
    """Given: rows of x (..., D) over the root mean square of their first numbers, times weight (D,)."""
    head = x[..., :first]  # (..., first)
    r = 1 / np.sqrt((head * head).mean(axis=-1, keepdims=True) + eps)  # (..., 1)
    return x * r * weight, (x, r, weight, first)


def rms_norm_backward(dy, cache):
    """dx (..., D) and dweight (D,) from dy (..., D)."""
    raise NotImplementedError("write rms_norm_backward: which numbers of x does r depend on?")
