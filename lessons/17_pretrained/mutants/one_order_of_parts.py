"""Keys come before queries."""

import importlib

solution = importlib.import_module("lessons.17_pretrained.solution")
resize_matrix = solution.resize_matrix
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def attention_from_official(query, key, value, out):
    return solution.attention_from_official(key, query, value, out)
