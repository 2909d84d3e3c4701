"""The right name, with targets that are distributions: on those all three agree."""

import importlib

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy = solution.cross_entropy
cross_entropy_backward = solution.cross_entropy_backward
log_sum_exp_in_pieces = solution.log_sum_exp_in_pieces


def guilty_cross_entropy():
    name, (logits, targets) = solution.guilty_cross_entropy()
    return name, (logits, targets / targets.sum(axis=1, keepdims=True))
