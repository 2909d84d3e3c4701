"""Lesson 7: LayerNorm. Fill in the functions, then run: pytest lessons/07_layer_norm"""

import numpy as np  # noqa: F401 - you will want it

from tinyvit.gradcheck import check_gradients  # noqa: F401 - the tool of lesson 2, for trust_layer_norm


def layer_norm(x, weight, bias, eps=1e-6):
    """Normalise the last axis of x (..., D), then apply gain and offset, weight and bias (D,).

    Return y (..., D) and a cache, which the backward gets.
    """
    raise NotImplementedError("write layer_norm: equations 1 and 2, and keep what the backward will need")


def layer_norm_backward(dy, cache):
    """dx (..., D), dweight (D,), dbias (D,): the three paths added up, or their closed form."""
    raise NotImplementedError(
        "write layer_norm_backward: the two paths of the text and the third, or the closed form"
    )


def trust_layer_norm(forward, backward):
    """True if, by gradient checks, backward(dy, cache) returns the right dx, dweight, dbias, otherwise False.

    forward(x, weight, bias, eps=1e-6) is right and returns (y, cache); only the backward may be wrong.
    """
    raise NotImplementedError("write trust_layer_norm: check_gradients on inputs on which nothing can hide")


# The puzzle: no mean is subtracted, and r is measured on the first numbers of each row only.


def rms_norm_backward(dy, x, weight, first, eps=1e-6):
    """dx (..., D) and dweight (D,) of y = x * r * weight, from dy (..., D); there is no cache.

    r (..., 1) is 1 over the root of (eps plus the mean square of each row's first numbers, x[..., :first]).
    """
    raise NotImplementedError("write rms_norm_backward: which numbers of x does r depend on?")
