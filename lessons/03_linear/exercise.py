"""Lesson 3: the linear layer. Fill in the functions, then run: pytest lessons/03_linear"""

import numpy as np  # noqa: F401 - you may want it


def linear(x, weight, bias):
    """x (..., I) times weight (I, O) plus bias (O,); return y (..., O) and a cache."""
    raise NotImplementedError(
        "write linear: equation 1 for all rows at once, keeping what the backward needs"
    )


def linear_backward(dy, cache):
    """dx (..., I), dweight (I, O), dbias (O,) from dy (..., O)."""
    raise NotImplementedError("write linear_backward: where is each number used, and with which factor?")


# The puzzles


def unbroadcast(dy, shape):
    """The gradient, of the given shape, of an array of that shape that was broadcast to dy's shape."""
    raise NotImplementedError("write unbroadcast: add up dy over every axis along which there are copies")


def tied_backward(dy, x, weight):
    """dx (..., I) and dweight (I, O) of y = (x @ weight) @ weight.T, from dy (..., I); there is no cache.

    One weight encodes each row, and its transpose decodes it.
    """
    raise NotImplementedError("write tied_backward: the weight is used twice, and both uses send a gradient")
