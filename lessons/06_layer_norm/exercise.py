"""Lesson 6: LayerNorm. Fill in the three functions, then run: pytest lessons/06_layer_norm"""

import numpy as np  # noqa: F401 - you will want it


def layer_norm(x, weight, bias, eps=1e-6):
    """Normalise the last axis of x (..., D), then apply gain and offset, weight and bias (D,).

    Return y (..., D) and a cache, which both backwards get.
    """
    raise NotImplementedError("write layer_norm: equations 1 and 2, and keep what the backward will need")


def layer_norm_backward_graph(dy, cache):
    """dx (..., D), dweight (D,), dbias (D,), by following the graph: three paths from x to n, added up."""
    raise NotImplementedError("write layer_norm_backward_graph: add up the paths of equations 3, 4 and 5")


def layer_norm_backward(dy, cache):
    """The same three gradients, dx by the closed form."""
    raise NotImplementedError("write layer_norm_backward: equations 6 and 7")
