"""The column is made without a dtype, so float32 rows become float64 means."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh = solution.gelu_tanh
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def row_means(x):
    D = x.shape[-1]
    return (x.reshape(-1, D) @ np.full((D, 1), 1 / D)).reshape(*x.shape[:-1], 1)
