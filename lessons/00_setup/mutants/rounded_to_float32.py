"""Added up in float32 on the way, and called float64 in the end."""

import importlib

import numpy as np

bytes_from_sums = importlib.import_module("lessons.00_setup.solution").bytes_from_sums


def mean_colours(images):
    return images.mean(axis=(1, 2), dtype=np.float32).astype(np.float64)
