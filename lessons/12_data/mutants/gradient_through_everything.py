"""The backward hands on the gradient of dropped images too."""

import importlib

solution = importlib.import_module("lessons.12_data.solution")
crop_and_flip = solution.crop_and_flip
drop_path = solution.drop_path
guilty_drop_path = solution.guilty_drop_path
hold_out = solution.hold_out


def drop_path_backward(dy, cache):
    return dy if cache is None else dy * cache.max()
