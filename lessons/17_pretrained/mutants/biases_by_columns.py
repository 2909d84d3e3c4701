"""The biases are laid out with the heads running fastest."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.17_pretrained.solution")
resize_matrix = solution.resize_matrix
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def attention_from_official(query, key, value, out):
    weight, _, out_weight, out_bias = solution.attention_from_official(query, key, value, out)
    return (
        weight,
        np.concatenate([bias.T.reshape(-1) for _, bias in (query, key, value)]),
        out_weight,
        out_bias,
    )
