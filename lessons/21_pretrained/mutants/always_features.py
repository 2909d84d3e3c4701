"""The F x F system is solved even where there are few images: right, and slow."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.21_pretrained.solution")
attention_from_official, resize_matrix = solution.attention_from_official, solution.resize_matrix


def ridge_weights(X, Y, ridge):
    return np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1], dtype=X.dtype), X.T @ Y)
