"""The identity has no dtype of its own, and turns everything into float64."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.18_transfer.solution")
probe_inputs, trust_ridge = solution.probe_inputs, solution.trust_ridge
leave_one_out = solution.leave_one_out


def ridge_weights(X, Y, ridge):
    n, F = X.shape
    if n >= F:
        return np.linalg.solve(X.T @ X + ridge * np.eye(F), X.T @ Y)
    return X.T @ np.linalg.solve(X @ X.T + ridge * np.eye(n), Y)
