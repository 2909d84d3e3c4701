"""The array that is worked in is the one that was given: x is lost."""

import importlib

solution = importlib.import_module("lessons.19_fast_numpy.solution")
gradients_on_threads, row_means = solution.gradients_on_threads, solution.row_means


def gelu_tanh(x):
    x[...] = solution.gelu_tanh(x)
    return x
