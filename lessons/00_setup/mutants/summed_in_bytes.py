"""The sum is kept in a byte, which starts again at 0 after 255."""

import importlib

import numpy as np

bytes_from_sums = importlib.import_module("lessons.00_setup.solution").bytes_from_sums


def mean_colours(images):
    return images.sum(axis=(1, 2), dtype=np.uint8) / (images.shape[1] * images.shape[2])
