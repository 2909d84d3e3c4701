"""The penalty is left out: a pseudo-inverse instead."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.01_pixels.solution")
normalise = solution.normalise
class_scores = solution.class_scores


def fit_linear(x, labels, classes, penalty):
    targets = (labels[:, None] == np.arange(classes)).astype(x.dtype)
    weight = np.linalg.pinv(x - x.mean(axis=0)) @ (targets - targets.mean(axis=0))
    return weight, targets.mean(axis=0) - x.mean(axis=0) @ weight
