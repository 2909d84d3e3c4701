"""Keys come before queries."""

import importlib

solution = importlib.import_module("lessons.21_pretrained.solution")
resize_matrix, ridge_weights = solution.resize_matrix, solution.ridge_weights


def attention_from_official(query, key, value, out):
    return solution.attention_from_official(key, query, value, out)
