"""The constant column comes first."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.18_transfer.solution")
ridge_weights, trust_ridge = solution.ridge_weights, solution.trust_ridge
leave_one_out = solution.leave_one_out


def probe_inputs(features, mean, std):
    return np.roll(solution.probe_inputs(features, mean, std), 1, axis=1)
