"""The bias takes the shift through the weight that was scaled already."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official, resize_matrix = solution.attention_from_official, solution.resize_matrix
trust_resize = solution.trust_resize


def embedding_for_our_pixels(weight, bias, mean, std):
    new, _ = solution.embedding_for_our_pixels(weight, bias, mean, std)
    shift = np.tile((0.5 - np.asarray(mean)) / np.asarray(std), len(weight) // len(mean))
    return new, (bias + shift @ new).astype(bias.dtype)
