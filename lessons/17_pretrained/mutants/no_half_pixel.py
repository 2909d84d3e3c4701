"""'bilinear' reads at i n / m: the upper left corners of the cells, not their middles."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official = solution.attention_from_official
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def resize_matrix(n, m, method):
    if method == "corners":
        return solution.resize_matrix(n, m, method)
    at = (np.arange(m) * n / m).clip(0, n - 1)
    return (1 - np.abs(at[:, None] - np.arange(n))).clip(0)
