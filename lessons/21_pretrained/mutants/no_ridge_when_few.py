"""With fewer images than features, the penalty is left out: every training image is fitted exactly."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.21_pretrained.solution")
attention_from_official, resize_matrix = solution.attention_from_official, solution.resize_matrix


def ridge_weights(X, Y, ridge):
    if len(X) >= X.shape[1]:
        return solution.ridge_weights(X, Y, ridge)
    return X.T @ np.linalg.solve(X @ X.T, Y)
