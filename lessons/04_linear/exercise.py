"""Lesson 4: the linear layer. Fill in the three functions, then run: pytest lessons/04_linear"""

import numpy as np  # noqa: F401 - you may want it


def linear(x, weight, bias):
    """x (..., I) times weight (I, O) plus bias (O,); return y (..., O) and a cache."""
    raise NotImplementedError(
        "write linear: equation 1 for all rows at once, keeping what the backward needs"
    )


def linear_backward(dy, cache):
    """dx (..., I), dweight (I, O), dbias (O,) from dy (..., O)."""
    raise NotImplementedError("write linear_backward: equations 2, 3 and 4")


def unbroadcast(dy, shape):
    """The gradient, of the given shape, of an array of that shape that was broadcast to dy's shape."""
    raise NotImplementedError("write unbroadcast: add up dy over every axis of copies (equation 5)")
