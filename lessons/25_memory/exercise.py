"""Lesson 25: memory. Fill in the functions, then run: pytest lessons/25_memory"""

import math  # noqa: F401 - you will want it

import numpy as np  # noqa: F401 - and it

from tinyvit.gradcheck import check_gradients  # noqa: F401 - the tool of lesson 2, for trust_in_place


def gelu_tanh(x):
    """GELU of x (at least one axis), tanh form, with one exp: y, shaped and typed as x.

    Makes one new array and works in it; x stays as it was. No NaN, however large the numbers of x.
    """
    raise NotImplementedError("write gelu_tanh: with one exp, each operation into the array of the result")


def row_means(x):
    """Mean over the last axis, kept: x (..., D) to (..., 1), in the dtype of x, as one matrix product."""
    raise NotImplementedError("write row_means: a product of all rows with a column of 1/D")


def trust_in_place(forward, backward):
    """True if an operation that saves memory may be trusted, otherwise False.

    forward(x) returns (y, cache) and backward(dy, cache) returns dx, for x of any shape. It may be trusted if
    dx is the gradient and stays right however often the two are called, and if both leave alone what they
    were given, and each leaves alone what was returned before.
    """
    raise NotImplementedError("write trust_in_place: check_gradients, then look for overwritten arrays")


# The puzzle: be 1.5 times as fast. `slow.py` has Adam's step as it stands in lesson 9. Yours does the same
# with hardly any memory of its own, and `python -m lessons.25_memory.race` says how much faster that is.


def adam_in_pieces(w, g, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    """One step of Adam, in place: w, m and v (n,) are written to; g (n,) is only read. Returns nothing.

    w: parameters, g: their gradients, m and v: the running means of g and of its squares, all of one float
    dtype; step: 1 for the first. Has at no time more than 256 KiB in arrays of its own, however long n is.
    """
    raise NotImplementedError("write adam_in_pieces: one stretch of all four arrays at a time, in place")
