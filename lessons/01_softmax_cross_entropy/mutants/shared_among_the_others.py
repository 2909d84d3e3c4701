"""The other classes share the smoothing, s / (C - 1) each, and the right one gets none of it."""

import importlib

import numpy as np

from tinyvit.ops import cross_entropy as right

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy_backward = solution.cross_entropy_backward
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces


def cross_entropy(logits, targets, smoothing=0.0):
    C = logits.shape[1]
    t = np.eye(C, dtype=logits.dtype)[targets] if targets.ndim == 1 else targets.astype(logits.dtype)
    return right(logits, (1 - smoothing) * t + smoothing / (C - 1) * (1 - t))
