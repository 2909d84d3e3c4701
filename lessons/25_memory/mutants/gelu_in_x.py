"""The array that is worked in is the one that was given: x is lost."""

import importlib

solution = importlib.import_module("lessons.25_memory.solution")
row_means = solution.row_means
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def gelu_tanh(x):
    x[...] = solution.gelu_tanh(x)
    return x
