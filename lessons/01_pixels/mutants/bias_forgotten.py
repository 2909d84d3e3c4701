"""The scores are taken without the bias."""

import importlib

solution = importlib.import_module("lessons.01_pixels.solution")
normalise = solution.normalise
fit_linear = solution.fit_linear


def class_scores(images, weight, bias):
    return images.reshape(len(images), -1) @ weight
