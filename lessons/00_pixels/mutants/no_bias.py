"""The mean is taken for the whole answer: a bright template wins too often."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.00_pixels.solution")
normalise = solution.normalise
class_scores = solution.class_scores
read_templates = solution.read_templates


def mean_templates(x, labels, classes):
    weight, bias = solution.mean_templates(x, labels, classes)
    return weight, np.zeros_like(bias)
