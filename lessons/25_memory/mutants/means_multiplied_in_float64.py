"""The column is float64: all of a float32 x is converted for the product, and the means back again."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh = solution.gelu_tanh
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def row_means(x):
    D = x.shape[-1]
    return (x.reshape(-1, D) @ np.full((D, 1), 1 / D)).astype(x.dtype).reshape(*x.shape[:-1], 1)
