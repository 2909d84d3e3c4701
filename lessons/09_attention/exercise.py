"""Lesson 9: attention with one head. Fill in the functions, then run: pytest lessons/09_attention"""

import math  # noqa: F401 - math.sqrt keeps float32 what it is

import numpy as np  # noqa: F401

from tinyvit.ops import softmax, softmax_backward  # noqa: F401 - you will want them


def single_head(q, k, v):
    """Each token's mix of all values: q, k, v (B, N, K) to y (B, N, K), and a cache."""
    raise NotImplementedError("write single_head: equations 2, 3 and 4, and keep what the backward will need")


def single_head_backward(dy, cache):
    """Gradients of single_head: dq, dk, dv, each (B, N, K), from dy (B, N, K)."""
    raise NotImplementedError("write single_head_backward: dA is given in the text; find dv, dq and dk")


def guilty_attention():
    """The name of the wrong backward in suspects.py, and inputs that expose it.

    Return (name, (q, k, v)): three arrays (B, N, K) in float64.
    """
    raise NotImplementedError("write guilty_attention: return a name, and (q, k, v) on which it is wrong")


# The puzzle


def lean_backward(dy, q, k, v, piece):
    """The same dq, dk, dv from q, k and v alone, with nothing kept by the forward.

    At no time may an array of N x N numbers exist: work on `piece` tokens at a time. The last piece may be
    shorter, since piece need not divide N.
    """
    raise NotImplementedError("write lean_backward: which rows of A does one query need, and what adds up?")
