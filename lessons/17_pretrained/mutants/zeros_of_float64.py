"""The matrices are filled into arrays of zeros that nobody told their dtype."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.17_pretrained.solution")
resize_matrix = solution.resize_matrix
embedding_for_our_pixels, trust_resize = solution.embedding_for_our_pixels, solution.trust_resize


def attention_from_official(query, key, value, out):
    weight, *others = solution.attention_from_official(query, key, value, out)
    filled = np.zeros(weight.shape)
    filled[...] = weight
    return filled, *others
