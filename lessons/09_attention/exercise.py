"""Lesson 9: attention with one head. Fill in the two functions, then run: pytest lessons/09_attention"""

import math  # noqa: F401 - math.sqrt keeps float32 what it is

from tinyvit.ops import softmax, softmax_backward  # noqa: F401 - you will want them


def single_head(q, k, v):
    """Each token's mix of all values: q, k, v (B, N, K) to y (B, N, K), and a cache."""
    raise NotImplementedError("write single_head: equations 2, 3 and 4, and keep what the backward will need")


def single_head_backward(dy, cache):
    """Gradients of single_head: dq, dk, dv, each (B, N, K), from dy (B, N, K)."""
    raise NotImplementedError("write single_head_backward: equations 7, 8 and 9, with dy for do")
