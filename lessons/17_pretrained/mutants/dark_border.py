"""Beyond the border there is nothing: the outermost rows do not add up to 1."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official = solution.attention_from_official
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def resize_matrix(n, m, method):
    if method == "corners":
        return solution.resize_matrix(n, m, method)
    at = (np.arange(m) + 0.5) * n / m - 0.5
    return (1 - np.abs(at[:, None] - np.arange(n))).clip(0)
