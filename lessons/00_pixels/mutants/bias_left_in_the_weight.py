"""The answer to each image is taken for the weight, though the bias is in it too."""

import importlib

solution = importlib.import_module("lessons.00_pixels.solution")
normalise = solution.normalise
class_scores = solution.class_scores
mean_templates = solution.mean_templates


def read_templates(scores, shape):
    weight, bias = solution.read_templates(scores, shape)
    return weight + bias, bias
