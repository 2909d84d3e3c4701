"""The mean is a reduction: right, but not a product."""

import importlib

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh = solution.gelu_tanh
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def row_means(x):
    return x.mean(axis=-1, keepdims=True)
