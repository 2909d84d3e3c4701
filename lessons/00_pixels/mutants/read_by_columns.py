"""The rows are taken column of the picture by column, the other way round than the fit took them."""

import importlib

solution = importlib.import_module("lessons.00_pixels.solution")
normalise = solution.normalise
mean_templates = solution.mean_templates
read_templates = solution.read_templates


def class_scores(images, weight, bias):
    return images.transpose(0, 2, 1, 3).reshape(len(images), -1) @ weight + bias
