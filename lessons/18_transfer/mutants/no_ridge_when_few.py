"""With fewer images than features, the penalty is left out: every training image is fitted exactly."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.18_transfer.solution")
probe_inputs, trust_ridge = solution.probe_inputs, solution.trust_ridge
leave_one_out = solution.leave_one_out


def ridge_weights(X, Y, ridge):
    if len(X) >= X.shape[1]:
        return solution.ridge_weights(X, Y, ridge)
    return X.T @ np.linalg.pinv(X @ X.T) @ Y
