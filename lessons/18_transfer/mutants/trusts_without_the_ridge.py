"""The gradient of the squares alone is looked at, with a ridge so small that it hardly counts."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.18_transfer.solution")
probe_inputs, ridge_weights = solution.probe_inputs, solution.ridge_weights
leave_one_out = solution.leave_one_out


def trust_ridge(solve):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(9, 4)), rng.normal(size=(9, 3))
    W = solve(X, Y, 1e-9)
    return bool(np.abs(X.T @ (X @ W - Y)).max() < 1e-6)
