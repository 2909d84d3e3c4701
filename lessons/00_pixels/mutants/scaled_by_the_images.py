"""The darkest and the lightest pixel at hand are taken for the ends of the scale."""

import importlib

solution = importlib.import_module("lessons.00_pixels.solution")
class_scores = solution.class_scores
mean_templates = solution.mean_templates
read_templates = solution.read_templates


def normalise(images, dtype):
    low, high = images.min().astype(dtype), images.max().astype(dtype)
    return 2 * (images.astype(dtype) - low) / (high - low) - 1
