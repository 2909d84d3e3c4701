"""The bias is minus the square of the mean, without the half."""

import importlib

solution = importlib.import_module("lessons.00_pixels.solution")
normalise = solution.normalise
class_scores = solution.class_scores
read_templates = solution.read_templates


def mean_templates(x, labels, classes):
    weight, bias = solution.mean_templates(x, labels, classes)
    return weight, 2 * bias
