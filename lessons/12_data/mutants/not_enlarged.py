"""What is kept is not divided by 1 - rate."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.12_data.solution")
crop_and_flip = solution.crop_and_flip
drop_path_backward = solution.drop_path_backward
guilty_drop_path = solution.guilty_drop_path
hold_out = solution.hold_out


def drop_path(x, rate, noise):
    if noise is None or rate == 0:
        return x, None
    mask = (noise.uniform((x.shape[0], 1, 1), np) >= rate).astype(x.dtype)
    return x * mask, mask
