"""The array that is worked in is kept for the next call, and is the result of both."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
row_means = solution.row_means
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place

kept = {}


def gelu_tanh(x):
    y = kept.setdefault((x.shape, x.dtype), np.empty_like(x))
    y[...] = solution.gelu_tanh(x)
    return y
