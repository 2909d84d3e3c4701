"""The ridge is added to every entry, not to the diagonal alone."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.18_transfer.solution")
probe_inputs, trust_ridge = solution.probe_inputs, solution.trust_ridge
leave_one_out = solution.leave_one_out


def ridge_weights(X, Y, ridge):
    if X.shape[0] < X.shape[1]:
        return X.T @ np.linalg.solve(X @ X.T + ridge * np.eye(len(X), dtype=X.dtype), Y)
    products = X.T @ X
    return np.linalg.lstsq(products + ridge, X.T @ Y, rcond=None)[0]
