"""The shares are multiplied by the diagonal of the matrix, not divided by that of its inverse."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.18_transfer.solution")
probe_inputs, ridge_weights = solution.probe_inputs, solution.ridge_weights
trust_ridge = solution.trust_ridge


def leave_one_out(X, Y, ridge):
    products = X @ X.T + ridge * np.eye(len(X))
    return Y - np.linalg.solve(products, Y) * np.diag(products)[:, None]
