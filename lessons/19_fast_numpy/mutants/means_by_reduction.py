"""The mean is a reduction: right, but not a product."""

import importlib

solution = importlib.import_module("lessons.19_fast_numpy.solution")
gelu_tanh, gradients_on_threads = solution.gelu_tanh, solution.gradients_on_threads


def row_means(x):
    return x.mean(axis=-1, keepdims=True)
