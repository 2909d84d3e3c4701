"""The edge is shown twice: numpy calls that symmetric, not reflect."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.12_data.solution")
drop_path = solution.drop_path
drop_path_backward = solution.drop_path_backward
guilty_drop_path = solution.guilty_drop_path
hold_out = solution.hold_out


def crop_and_flip(images, indices, down, right, flip):
    H, W = images.shape[1:3]
    rows, columns = np.arange(H) + down[:, None], np.arange(W) + right[:, None]
    columns = np.where(flip[:, None], columns[:, ::-1], columns)
    rows, columns = fold(rows, H), fold(columns, W)
    return images[indices[:, None, None], rows[:, :, None], columns[:, None, :]]


def fold(index, size):
    index = np.where(index < 0, -1 - index, index)
    return np.where(index >= size, 2 * size - 1 - index, index)
