"""Probabilities below 1e-12 are lifted, so that a hopeless row costs 27.6 and no more."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy_backward = solution.cross_entropy_backward
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces


def cross_entropy(logits, targets, smoothing=0.0):
    _, (p, t) = solution.cross_entropy(logits, targets, smoothing)
    return -(t * np.log(np.maximum(p, logits.dtype.type(1e-12)))).sum(axis=1).mean(), (p, t)
