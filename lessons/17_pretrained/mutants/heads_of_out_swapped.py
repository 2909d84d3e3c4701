"""The rows of out go through K first, then through the heads."""

import importlib

solution = importlib.import_module("lessons.17_pretrained.solution")
resize_matrix = solution.resize_matrix
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def attention_from_official(query, key, value, out):
    weight, bias, out_weight, out_bias = solution.attention_from_official(query, key, value, out)
    return weight, bias, out[0].swapaxes(0, 1).reshape(out_weight.shape), out_bias
