"""Soft targets are left as they are."""

import importlib

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces
softmax_backward = solution.softmax_backward
cross_entropy_backward = solution.cross_entropy_backward


def cross_entropy(logits, targets, smoothing=0.0):
    return solution.cross_entropy(logits, targets, smoothing if targets.ndim == 1 else 0.0)
