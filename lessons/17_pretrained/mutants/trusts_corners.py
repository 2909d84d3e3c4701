"""The check has many sizes and one method."""

import importlib

import numpy as np

from tinyvit.checking import check_gradients

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official, resize_matrix = solution.attention_from_official, solution.resize_matrix
embedding_for_our_pixels = solution.embedding_for_our_pixels


def trust_resize(forward, backward):
    rng = np.random.default_rng(0)
    for size in ((5, 7), (2, 3), (1, 4), (6, 2)):
        images = rng.normal(size=(2, 4, 4, 2))
        resize = lambda x, size=size: forward(x, size, "corners")
        if not max(check_gradients(resize, backward, (images,), rng)) < 1e-6:
            return False
    return True
