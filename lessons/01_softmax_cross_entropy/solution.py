"""The library's own functions are the model answer: ops/softmax.py and ops/cross_entropy.py in tinyvit/."""

import numpy as np

from tinyvit.ops import cross_entropy, cross_entropy_backward, softmax_backward

__all__ = ["cross_entropy", "cross_entropy_backward", "softmax_backward"]
__all__ += ["guilty_cross_entropy", "log_sum_exp_in_pieces"]


def guilty_cross_entropy():
    """The short way takes it for granted that each row of targets adds up to 1. Weights need not."""
    logits = np.array([[2.0, 1.0, 0.0], [0.5, -1.0, 0.3]])
    return "the short way", (logits, np.array([[3.0, 0.0, 0.0], [0.0, 0.5, 0.0]]))


def log_sum_exp_in_pieces(pieces):
    """Of all the pieces so far, remember the maximum and the sum, measured from that maximum."""
    highest, total = -np.inf, 0.0
    for piece in pieces:
        new = np.maximum(highest, piece.max(axis=1))  # (B,)
        total = total * np.exp(highest - new) + np.exp(piece - new[:, None]).sum(axis=1)
        highest = new
    return highest + np.log(total)
