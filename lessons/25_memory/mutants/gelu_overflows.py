"""The gate as exp(2u) / (1 + exp(2u)): infinity divided by infinity where x is large."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
row_means = solution.row_means
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def gelu_tanh(x):
    e = np.exp(1.5957691216057308 * (x + 0.044715 * x * x * x))
    return x * e / (1 + e)
