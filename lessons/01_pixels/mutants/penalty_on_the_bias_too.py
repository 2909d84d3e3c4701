"""The bias is fitted as one more weight, so the penalty pulls at it as well."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.01_pixels.solution")
normalise = solution.normalise
class_scores = solution.class_scores


def fit_linear(x, labels, classes, penalty):
    x = np.concatenate([x, np.ones((len(x), 1), x.dtype)], axis=1)
    targets = (labels[:, None] == np.arange(classes)).astype(x.dtype)
    both = x.T @ np.linalg.solve(x @ x.T + penalty * np.eye(len(x), dtype=x.dtype), targets)
    return both[:-1], both[-1]
