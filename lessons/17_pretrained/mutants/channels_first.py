"""The rows of the patch matrix are taken as if they went through the channels first."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.17_pretrained.solution")
attention_from_official, resize_matrix = solution.attention_from_official, solution.resize_matrix
trust_resize = solution.trust_resize


def embedding_for_our_pixels(weight, bias, mean, std):
    mean, std = np.asarray(mean), np.asarray(std)
    count = len(weight) // len(mean)
    scale, shift = np.repeat(0.5 / std, count), np.repeat((0.5 - mean) / std, count)
    return (weight * scale[:, None]).astype(weight.dtype), (bias + shift @ weight).astype(bias.dtype)
