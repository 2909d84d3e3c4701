"""The columns are worked out in float32; only the result is made float64."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.18_transfer.solution")
ridge_weights, trust_ridge = solution.ridge_weights, solution.trust_ridge
leave_one_out = solution.leave_one_out


def probe_inputs(features, mean, std):
    x = ((features - mean) / (std + 1e-5)).astype(np.float64)
    return np.concatenate([x, np.full((len(x), 1), 100.0)], axis=1)
