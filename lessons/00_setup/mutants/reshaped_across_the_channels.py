"""The right shape out of the wrong order: rows of memory instead of channels."""

import importlib

bytes_from_sums = importlib.import_module("lessons.00_setup.solution").bytes_from_sums


def mean_colours(images):
    return images.reshape(len(images), 3, -1).mean(axis=2)
