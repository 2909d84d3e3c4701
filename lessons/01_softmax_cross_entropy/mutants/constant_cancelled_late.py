"""The maximum is used for the exp only: the digits are lost when two large numbers are subtracted."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy_backward = solution.cross_entropy_backward
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces


def cross_entropy(logits, targets, smoothing=0.0):
    _, (p, t) = solution.cross_entropy(logits, targets, smoothing)
    highest = logits.max(axis=1, keepdims=True)
    total = np.exp(logits - highest).sum(axis=1)
    return (np.log(total) + highest[:, 0] - (t * logits).sum(axis=1)).mean(), (p, t)
