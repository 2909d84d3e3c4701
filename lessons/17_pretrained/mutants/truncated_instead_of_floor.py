"""int() rounds -1/4 to 0, not to -1: the first value is continued as a straight line beyond the border."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official = solution.attention_from_official
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def resize_matrix(n, m, method):
    if method == "corners":
        return solution.resize_matrix(n, m, method)
    matrix = np.zeros((m, n))
    for i in range(m):
        t = (i + 0.5) * n / m - 0.5
        j = int(t)
        f = t - j
        matrix[i, min(j, n - 1)] += 1 - f
        matrix[i, min(j + 1, n - 1)] += f
    return matrix
