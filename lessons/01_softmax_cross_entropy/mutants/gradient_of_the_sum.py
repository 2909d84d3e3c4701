"""The gradient of the sum over the batch, for a loss that is the mean."""

import importlib

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces
softmax_backward = solution.softmax_backward
cross_entropy = solution.cross_entropy


def cross_entropy_backward(cache):
    p, t = cache
    return p - t
