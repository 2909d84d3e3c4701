"""The column holds ones instead of 1/D."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.19_fast_numpy.solution")
gelu_tanh, gradients_on_threads = solution.gelu_tanh, solution.gradients_on_threads


def row_means(x):
    return x @ np.ones((x.shape[-1], 1), dtype=x.dtype)
