"""One-hot rows out of numpy.eye, which is float64 whatever the logits are."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces
softmax_backward = solution.softmax_backward
cross_entropy_backward = solution.cross_entropy_backward


def cross_entropy(logits, targets, smoothing=0.0):
    t = np.eye(logits.shape[1])[targets] if targets.ndim == 1 else targets
    loss, (p, _) = solution.cross_entropy(logits, t, smoothing)
    return loss, (p, t * (1 - smoothing) + smoothing / logits.shape[1])
