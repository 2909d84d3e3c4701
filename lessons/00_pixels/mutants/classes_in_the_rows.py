"""The weight is returned with a class in each row, (C, D)."""

import importlib

solution = importlib.import_module("lessons.00_pixels.solution")
normalise = solution.normalise
class_scores = solution.class_scores
read_templates = solution.read_templates


def mean_templates(x, labels, classes):
    weight, bias = solution.mean_templates(x, labels, classes)
    return weight.T, bias
