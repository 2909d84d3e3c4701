"""The check only ever makes square images twice as large."""

import importlib

import numpy as np

from tinyvit.checking import check_gradients

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official, resize_matrix = solution.attention_from_official, solution.resize_matrix
embedding_for_our_pixels = solution.embedding_for_our_pixels


def trust_resize(forward, backward):
    rng = np.random.default_rng(0)
    images = rng.normal(size=(2, 3, 3, 2))
    for method in ("corners", "bilinear"):
        resize = lambda x, method=method: forward(x, (6, 6), method)
        if not max(check_gradients(resize, backward, (images,), rng)) < 1e-6:
            return False
    return True
