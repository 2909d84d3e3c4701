"""x and dy are compared, what was returned is not."""

import importlib

import numpy as np

from tinyvit.checking import check_gradients

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh, row_means, adam_in_pieces = solution.gelu_tanh, solution.row_means, solution.adam_in_pieces


def trust_in_place(forward, backward):
    rng = np.random.default_rng(0)
    for shape in ((4, 3), (2, 3, 5)):
        x, dy = rng.normal(size=(2, *shape))
        if not max(check_gradients(forward, backward, (x.copy(),), rng)) < 1e-6:
            return False
        before, upstream = x.copy(), dy.copy()
        _, cache = forward(x)
        first = backward(dy, cache).copy()
        if not np.array_equal(first, backward(dy, cache)):
            return False
        if not np.array_equal(x, before) or not np.array_equal(dy, upstream):
            return False
    return True
