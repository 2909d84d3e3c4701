"""The window moves up and to the left where it should move down and to the right."""

import importlib

solution = importlib.import_module("lessons.12_data.solution")
drop_path = solution.drop_path
drop_path_backward = solution.drop_path_backward
guilty_drop_path = solution.guilty_drop_path
hold_out = solution.hold_out


def crop_and_flip(images, indices, down, right, flip):
    return solution.crop_and_flip(images, indices, -down, -right, flip)
