"""The row's maximum is not subtracted."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces
softmax_backward = solution.softmax_backward
cross_entropy_backward = solution.cross_entropy_backward


def cross_entropy(logits, targets, smoothing=0.0):
    C = logits.shape[1]
    t = targets if targets.ndim == 2 else targets[:, None] == np.arange(C)
    t = t.astype(logits.dtype) * (1 - smoothing) + smoothing / C
    exp = np.exp(logits)
    total = exp.sum(axis=1, keepdims=True)
    return (np.log(total[:, 0]) - (t * logits).sum(axis=1)).mean(), (exp / total, t)
