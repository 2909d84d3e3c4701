"""A feature that never changes is divided by almost nothing: the 1e-5 is left out, but for zeros."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.18_transfer.solution")
ridge_weights, trust_ridge = solution.ridge_weights, solution.trust_ridge
leave_one_out = solution.leave_one_out


def probe_inputs(features, mean, std):
    safe = np.where(std == 0, 1, std)
    x = (features.astype(np.float64) - mean) / safe
    return np.concatenate([x, np.full((len(x), 1), 100.0)], axis=1)
