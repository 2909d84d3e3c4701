"""The F x F system is solved even where there are few images: right, and slow."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.18_transfer.solution")
probe_inputs, trust_ridge = solution.probe_inputs, solution.trust_ridge
leave_one_out = solution.leave_one_out


def ridge_weights(X, Y, ridge):
    return np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1], dtype=X.dtype), X.T @ Y)
