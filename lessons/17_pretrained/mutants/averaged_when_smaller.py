"""Where the row becomes shorter, each new value is the mean of a stretch of old ones."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official = solution.attention_from_official
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def resize_matrix(n, m, method):
    if m >= n or m == 1:
        return solution.resize_matrix(n, m, method)
    edges = np.arange(m + 1) * n / m
    cells = np.arange(n)
    overlap = np.minimum(edges[1:, None], cells + 1) - np.maximum(edges[:-1, None], cells)
    return overlap.clip(0) * m / n
