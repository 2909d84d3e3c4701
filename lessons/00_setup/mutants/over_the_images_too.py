"""One colour for all images together."""

import importlib

bytes_from_sums = importlib.import_module("lessons.00_setup.solution").bytes_from_sums


def mean_colours(images):
    return images.mean(axis=(0, 1, 2))
