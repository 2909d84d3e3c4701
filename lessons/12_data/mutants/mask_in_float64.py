"""The mask is made in float64, and everything after it too."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.12_data.solution")
crop_and_flip = solution.crop_and_flip
drop_path_backward = solution.drop_path_backward
guilty_drop_path = solution.guilty_drop_path
hold_out = solution.hold_out


def drop_path(x, rate, noise):
    y, mask = solution.drop_path(x, rate, noise)
    return (y, None) if mask is None else (x * mask.astype(np.float64), mask.astype(np.float64))
