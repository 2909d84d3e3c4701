"""Rows of three or four axes are counted as if there were two: means of all but the first axis."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh = solution.gelu_tanh
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def row_means(x):
    D = x.shape[-1]
    rows = x.reshape(-1, D) if x.ndim < 4 else x.reshape(x.shape[0], -1)
    column = np.full((rows.shape[1], 1), 1 / rows.shape[1], dtype=x.dtype)
    means = rows @ column
    return means.reshape(*x.shape[:-1], 1) if x.ndim < 4 else means.reshape(-1, 1, 1, 1) + 0 * x[..., :1]
