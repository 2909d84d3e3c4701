"""The middle grey is subtracted while the pixels are still bytes, which wrap around below 0."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.00_pixels.solution")
class_scores = solution.class_scores
mean_templates = solution.mean_templates
read_templates = solution.read_templates


def normalise(images, dtype):
    return (images - np.uint8(128)).astype(dtype) / 127.5
