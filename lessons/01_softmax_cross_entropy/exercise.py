"""Lesson 1: fill in the functions, then run: pytest lessons/01_softmax_cross_entropy"""

import numpy as np  # noqa: F401 - you will want it


def softmax_backward(dy, cache):
    """dx (..., N) of the softmax over the last axis; dy (..., N), and the cache is its output y (..., N)."""
    raise NotImplementedError("write softmax_backward: the Jacobian you derived, summed up with dy")


def cross_entropy(logits, targets, smoothing=0.0):
    """Mean loss of logits (B, C), one number in their dtype, and a cache for the backward.

    targets: integer labels (B,), or rows of probabilities (B, C), which may be integers too (0 and 1).
    smoothing moves both towards 1 / C.
    """
    raise NotImplementedError("write cross_entropy: equation (cross entropy 3), with labels made into rows")


def cross_entropy_backward(cache):
    """Gradient dlogits (B, C) of the mean loss, in the dtype of the logits."""
    raise NotImplementedError("write cross_entropy_backward: the derivative of (cross entropy 3)")


def guilty_cross_entropy():
    """The wrong backward in suspects.py, and inputs that show it: (name, (logits, targets)).

    logits and targets are float64 arrays (B, C), with numbers of ordinary size.
    """
    raise NotImplementedError("write guilty_cross_entropy: a name from suspects.SUSPECTS, and two arrays")


# The puzzle


def log_sum_exp_in_pieces(pieces):
    """The log of the sum of the exp of all scores of a row, (B,), where the scores come piece by piece.

    pieces yields arrays (B, n), with another n each time, and can be gone through only once. It may use the
    same memory for each piece, so a piece is lost as soon as the next one comes. The scores may be of
    any size.
    """
    raise NotImplementedError("write log_sum_exp_in_pieces: what do you have to remember of a piece?")
