"""Right, and fitted n times."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.18_transfer.solution")
probe_inputs, ridge_weights = solution.probe_inputs, solution.ridge_weights
trust_ridge = solution.trust_ridge


def leave_one_out(X, Y, ridge):
    rows = np.arange(len(X))
    return np.stack([X[i] @ solution.ridge_weights(X[rows != i], Y[rows != i], ridge) for i in rows])
