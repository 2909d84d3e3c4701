"""Two neighbours that are the same value: the second share replaces the first, instead of being added."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official = solution.attention_from_official
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def resize_matrix(n, m, method):
    at = np.linspace(0, n - 1, m) if method == "corners" else (np.arange(m) + 0.5) * n / m - 0.5
    j = np.floor(at).astype(int)
    matrix = np.zeros((m, n))
    matrix[np.arange(m), j.clip(0, n - 1)] = 1 - (at - j)
    matrix[np.arange(m), (j + 1).clip(0, n - 1)] = at - j
    return matrix
