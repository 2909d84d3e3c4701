"""A single value reads in the middle of the row by either method."""

import importlib

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official = solution.attention_from_official
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def resize_matrix(n, m, method):
    return solution.resize_matrix(n, m, "bilinear" if m == 1 else method)
