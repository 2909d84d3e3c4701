"""The column holds ones instead of 1/D."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh = solution.gelu_tanh
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def row_means(x):
    return x @ np.ones((x.shape[-1], 1), dtype=x.dtype)
