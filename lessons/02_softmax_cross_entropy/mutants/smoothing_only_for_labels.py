"""Soft targets are left as they are."""

import importlib

solution = importlib.import_module("lessons.02_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy_backward = solution.cross_entropy_backward


def cross_entropy(logits, targets, smoothing=0.0):
    return solution.cross_entropy(logits, targets, smoothing if targets.ndim == 1 else 0.0)
