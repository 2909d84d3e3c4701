"""The dtype that was asked for is ignored."""

import importlib

solution = importlib.import_module("lessons.00_pixels.solution")
class_scores = solution.class_scores
mean_templates = solution.mean_templates
read_templates = solution.read_templates


def normalise(images, dtype):
    return images / 127.5 - 1.0
