"""The inputs keep the features' dtype."""

import importlib

solution = importlib.import_module("lessons.18_transfer.solution")
ridge_weights, trust_ridge = solution.ridge_weights, solution.trust_ridge
leave_one_out = solution.leave_one_out


def probe_inputs(features, mean, std):
    return solution.probe_inputs(features, mean, std).astype(features.dtype)
