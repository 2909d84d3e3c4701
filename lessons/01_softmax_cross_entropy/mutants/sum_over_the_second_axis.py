"""The sum runs over axis 1, which is the last one only where there are two."""

import importlib

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
cross_entropy = solution.cross_entropy
cross_entropy_backward = solution.cross_entropy_backward
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces


def softmax_backward(dy, cache):
    axis = min(1, dy.ndim - 1)
    return cache * (dy - (dy * cache).sum(axis=axis, keepdims=True))
