"""The sum is kept in 16 bits: enough for 257 pixels, and no more."""

import importlib

import numpy as np

bytes_from_sums = importlib.import_module("lessons.00_setup.solution").bytes_from_sums


def mean_colours(images):
    return images.sum(axis=(1, 2), dtype=np.uint16) / (images.shape[1] * images.shape[2])
