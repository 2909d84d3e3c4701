"""The scores of the probe that has seen every image."""

import importlib

solution = importlib.import_module("lessons.18_transfer.solution")
probe_inputs, ridge_weights = solution.probe_inputs, solution.ridge_weights
trust_ridge = solution.trust_ridge


def leave_one_out(X, Y, ridge):
    return X @ solution.ridge_weights(X, Y, ridge)
