"""The mean over the wrong axis: a row of 1/R from the left averages columns."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.19_fast_numpy.solution")
gelu_tanh, gradients_on_threads = solution.gelu_tanh, solution.gradients_on_threads


def row_means(x):
    rows = x.reshape(-1, x.shape[-1])
    return np.full((1, len(rows)), 1 / len(rows), dtype=x.dtype) @ rows
