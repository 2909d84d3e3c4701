"""The rows of every image are a product of their own: BLAS is called once for each."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh = solution.gelu_tanh
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def row_means(x):
    return x @ np.full((x.shape[-1], 1), 1 / x.shape[-1], dtype=x.dtype)
