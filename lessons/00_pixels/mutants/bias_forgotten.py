"""The scores are taken without the bias."""

import importlib

solution = importlib.import_module("lessons.00_pixels.solution")
normalise = solution.normalise
mean_templates = solution.mean_templates
read_templates = solution.read_templates


def class_scores(images, weight, bias):
    return images.reshape(len(images), -1) @ weight
