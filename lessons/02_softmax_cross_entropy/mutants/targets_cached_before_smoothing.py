"""The backward is given the targets as they were before smoothing."""

import importlib

solution = importlib.import_module("lessons.02_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy_backward = solution.cross_entropy_backward


def cross_entropy(logits, targets, smoothing=0.0):
    loss, _ = solution.cross_entropy(logits, targets, smoothing)
    _, cache = solution.cross_entropy(logits, targets)
    return loss, cache
