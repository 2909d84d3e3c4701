"""The penalty is counted twice: the 2 of the derivative belongs to both terms, or to neither."""

import importlib

solution = importlib.import_module("lessons.18_transfer.solution")
probe_inputs = solution.probe_inputs
trust_ridge = solution.trust_ridge
leave_one_out = solution.leave_one_out


def ridge_weights(X, Y, ridge):
    return solution.ridge_weights(X, Y, 2 * ridge)
