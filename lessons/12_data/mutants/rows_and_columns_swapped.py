"""The shifts are swapped: down moves the columns, and right the rows."""

import importlib

from tinyvit.data import crop_and_flip as answer

solution = importlib.import_module("lessons.12_data.solution")
drop_path = solution.drop_path
drop_path_backward = solution.drop_path_backward
guilty_drop_path = solution.guilty_drop_path
hold_out = solution.hold_out


def crop_and_flip(images, indices, down, right, flip):
    return answer(images, indices, right.clip(1 - images.shape[1], images.shape[1] - 1), down, flip)
