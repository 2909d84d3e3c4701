"""Pixels divided by 255: from 0 to 1, not from -1 to 1."""

import importlib

solution = importlib.import_module("lessons.00_pixels.solution")
class_scores = solution.class_scores
mean_templates = solution.mean_templates
read_templates = solution.read_templates


def normalise(images, dtype):
    return images.astype(dtype) / 255
