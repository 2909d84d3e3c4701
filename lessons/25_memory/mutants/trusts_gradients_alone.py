"""Only the gradient check is run: what was spoiled is not looked at."""

import importlib

import numpy as np

from tinyvit.checking import check_gradients

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh, row_means, adam_in_pieces = solution.gelu_tanh, solution.row_means, solution.adam_in_pieces


def trust_in_place(forward, backward):
    rng = np.random.default_rng(0)
    shapes = (4, 3), (2, 3, 5)
    return all(max(check_gradients(forward, backward, (rng.normal(size=s),), rng)) < 1e-6 for s in shapes)
