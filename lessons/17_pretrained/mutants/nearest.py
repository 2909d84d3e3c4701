"""The nearest value is taken whole."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official = solution.attention_from_official
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def resize_matrix(n, m, method):
    if method == "corners":
        at = np.linspace(0, n - 1, m) if m > 1 else np.zeros(1)
    else:
        at = (np.arange(m) + 0.5) * n / m - 0.5
    return np.eye(n)[np.rint(at).astype(int).clip(0, n - 1)]
