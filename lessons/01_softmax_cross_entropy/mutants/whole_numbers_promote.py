"""Soft targets keep their dtype: whole numbers turn float32 into float64."""

import importlib

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy_backward = solution.cross_entropy_backward
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces


def cross_entropy(logits, targets, smoothing=0.0):
    if targets.ndim == 1:
        return solution.cross_entropy(logits, targets, smoothing)
    if targets.dtype.kind == "f":
        return solution.cross_entropy(logits, targets, smoothing)
    t = targets * (1 - smoothing) + smoothing / logits.shape[1]
    loss, (p, _) = solution.cross_entropy(logits, targets, smoothing)
    return loss, (p, t)
