"""Pieces of B // pieces images each: those left over at the end are never seen."""

import importlib

solution = importlib.import_module("lessons.19_fast_numpy.solution")
gelu_tanh, row_means = solution.gelu_tanh, solution.row_means


def gradients_on_threads(config, params, images, labels, pieces, threads):
    seen = len(images) // pieces * pieces
    return solution.gradients_on_threads(config, params, images[:seen], labels[:seen], pieces, threads)
