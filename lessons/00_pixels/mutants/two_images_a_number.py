"""Each number is asked for twice, with a 1 and with a 0."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.00_pixels.solution")
normalise = solution.normalise
class_scores = solution.class_scores
mean_templates = solution.mean_templates


def read_templates(scores, shape):
    D = int(np.prod(shape))
    bias = scores(np.zeros((D, *shape)))
    return scores(np.eye(D).reshape(D, *shape)) - bias, bias[0]
