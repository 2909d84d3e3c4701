"""The gate as exp(2u) / (1 + exp(2u)): infinity divided by infinity where x is large."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.19_fast_numpy.solution")
gradients_on_threads, row_means = solution.gradients_on_threads, solution.row_means


def gelu_tanh(x):
    e = np.exp(1.5957691216057308 * (x + 0.044715 * x * x * x))
    return x * e / (1 + e)
