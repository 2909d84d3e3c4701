"""The mean over the wrong axis: a row of 1/R from the left averages columns."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh = solution.gelu_tanh
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def row_means(x):
    rows = x.reshape(-1, x.shape[-1])
    return np.full((1, len(rows)), 1 / len(rows), dtype=x.dtype) @ rows
