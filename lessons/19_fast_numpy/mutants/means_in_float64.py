"""The column is made without a dtype, so float32 rows become float64 means."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.19_fast_numpy.solution")
gelu_tanh, gradients_on_threads = solution.gelu_tanh, solution.gradients_on_threads


def row_means(x):
    D = x.shape[-1]
    return (x.reshape(-1, D) @ np.full((D, 1), 1 / D)).reshape(*x.shape[:-1], 1)
