"""Lesson 2: fill in the three functions, then run: pytest lessons/02_softmax_cross_entropy"""

import numpy as np  # noqa: F401 - you will want it


def softmax_backward(dy, cache):
    """dx (..., N) of the softmax over the last axis; dy (..., N), and the cache is its output y (..., N)."""
    raise NotImplementedError("write softmax_backward: equation (softmax 3)")


def cross_entropy(logits, targets, smoothing=0.0):
    """Mean loss of logits (B, C), one number in their dtype, and a cache for the backward.

    targets: integer labels (B,), or rows of probabilities (B, C). smoothing moves both towards 1 / C.
    """
    raise NotImplementedError(
        "write cross_entropy: equation (cross entropy 3), after making labels into rows"
    )


def cross_entropy_backward(cache):
    """Gradient dlogits (B, C) of the mean loss."""
    raise NotImplementedError("write cross_entropy_backward: equation (cross entropy 4)")
