"""The caller's soft targets are smoothed in place."""

import importlib

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy_backward = solution.cross_entropy_backward
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces


def cross_entropy(logits, targets, smoothing=0.0):
    if targets.ndim == 2 and targets.dtype == logits.dtype:
        targets *= 1 - smoothing
        targets += smoothing / logits.shape[1]
        return solution.cross_entropy(logits, targets)
    return solution.cross_entropy(logits, targets, smoothing)
