"""Right and in place, with tanh."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
row_means = solution.row_means
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def gelu_tanh(x):
    y = x * x
    y *= solution.SLOPE / 2 * solution.CUBIC
    y += solution.SLOPE / 2
    y *= x
    np.tanh(y, out=y)
    y += 1
    y *= x
    y *= 0.5
    return y
