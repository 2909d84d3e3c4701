"""The out kernel is transposed, as one would for a file of PyTorch."""

import importlib

solution = importlib.import_module("lessons.17_pretrained.solution")
resize_matrix = solution.resize_matrix
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def attention_from_official(query, key, value, out):
    *qkv, weight, bias = solution.attention_from_official(query, key, value, out)
    return *qkv, weight.T.copy(), bias
