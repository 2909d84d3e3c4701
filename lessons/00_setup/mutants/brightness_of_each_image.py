"""The channels are averaged as well: one number an image."""

import importlib

bytes_from_sums = importlib.import_module("lessons.00_setup.solution").bytes_from_sums


def mean_colours(images):
    return images.mean(axis=(1, 2, 3))
