"""The squares are averaged over the images and the penalty is not: it grows with their number."""

import importlib

solution = importlib.import_module("lessons.21_pretrained.solution")
attention_from_official, resize_matrix = solution.attention_from_official, solution.resize_matrix


def ridge_weights(X, Y, ridge):
    return solution.ridge_weights(X, Y, ridge * len(X))
