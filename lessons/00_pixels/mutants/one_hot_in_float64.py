"""One-hot rows from numpy.eye, which is float64 whatever x is."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.00_pixels.solution")
normalise = solution.normalise
class_scores = solution.class_scores
read_templates = solution.read_templates


def mean_templates(x, labels, classes):
    one_hot = np.eye(classes)[labels]
    means = (one_hot / one_hot.sum(axis=0)).T @ x
    return means.T, -(means * means).sum(axis=1) / 2
