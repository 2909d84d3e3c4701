"""The pieces are worked on one after another."""

import importlib

solution = importlib.import_module("lessons.19_fast_numpy.solution")
gelu_tanh, row_means = solution.gelu_tanh, solution.row_means


def gradients_on_threads(config, params, images, labels, pieces, threads):
    return solution.gradients_on_threads(config, params, images, labels, pieces, 1)
