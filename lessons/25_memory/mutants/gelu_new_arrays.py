"""GELU as it stands in the formula: right, but every step makes an array."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
row_means = solution.row_means
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def gelu_tanh(x):
    u = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    gate = 0.5 * (1 + np.tanh(u))
    return x * gate
