"""The backward writes dx into the mask that the forward has kept."""

import importlib

solution = importlib.import_module("lessons.12_data.solution")
crop_and_flip = solution.crop_and_flip
guilty_drop_path = solution.guilty_drop_path
hold_out = solution.hold_out


def drop_path(x, rate, noise):
    y, mask = solution.drop_path(x, rate, noise)
    return y, None if mask is None else mask + 0 * x


def drop_path_backward(dy, cache):
    if cache is None:
        return dy
    cache *= dy
    return cache
