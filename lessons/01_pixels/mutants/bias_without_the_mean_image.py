"""The bias is the mean target; what the mean image scores is not taken off."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.01_pixels.solution")
normalise = solution.normalise
class_scores = solution.class_scores


def fit_linear(x, labels, classes, penalty):
    targets = (labels[:, None] == np.arange(classes)).astype(x.dtype)
    weight, _ = solution.fit_linear(x, labels, classes, penalty)
    return weight, targets.mean(axis=0)
