"""The factor 2 of one term of the gradient is lost."""

import importlib

solution = importlib.import_module("lessons.18_transfer.solution")
probe_inputs, trust_ridge = solution.probe_inputs, solution.trust_ridge
leave_one_out = solution.leave_one_out


def ridge_weights(X, Y, ridge):
    return solution.ridge_weights(X, Y, ridge / 2)
