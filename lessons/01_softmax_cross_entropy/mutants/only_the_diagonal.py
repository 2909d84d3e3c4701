"""Softmax taken for an elementwise function, like the sigmoid: y (1 - y)."""

import importlib

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces
cross_entropy = solution.cross_entropy
cross_entropy_backward = solution.cross_entropy_backward


def softmax_backward(dy, cache):
    return dy * cache * (1 - cache)
