"""The sum of each class is divided by n / C, as if all classes had equally many images."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.00_pixels.solution")
normalise = solution.normalise
class_scores = solution.class_scores
read_templates = solution.read_templates


def mean_templates(x, labels, classes):
    one_hot = (labels[:, None] == np.arange(classes)).astype(x.dtype)
    means = one_hot.T @ x * (classes / len(x))
    return means.T, -(means * means).sum(axis=1) / 2
