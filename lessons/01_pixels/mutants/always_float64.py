"""The dtype that was asked for is ignored."""

import importlib

solution = importlib.import_module("lessons.01_pixels.solution")
class_scores = solution.class_scores
fit_linear = solution.fit_linear


def normalise(images, dtype):
    return images / 127.5 - 1.0
