"""p is turned into the gradient in place, so that a second backward subtracts the targets again."""

import importlib

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy = solution.cross_entropy
guilty_cross_entropy = solution.guilty_cross_entropy
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces


def cross_entropy_backward(cache):
    p, t = cache
    p -= t
    p *= 1 / len(p)
    return p
