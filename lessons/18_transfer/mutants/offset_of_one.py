"""The constant is 1, so that the penalty holds the offset down."""

import importlib

solution = importlib.import_module("lessons.18_transfer.solution")
ridge_weights, trust_ridge = solution.ridge_weights, solution.trust_ridge
leave_one_out = solution.leave_one_out


def probe_inputs(features, mean, std):
    X = solution.probe_inputs(features, mean, std)
    X[:, -1] = 1
    return X
