"""The numbers are moved in a copy of x, of which loss() knows nothing."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
gradient_error, wrong_backwards = solution.gradient_error, solution.wrong_backwards
guilty_pick, check_in_two = solution.guilty_pick, solution.check_in_two


def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("x must be float64")
    gradient = np.zeros_like(x)
    x = x.copy()
    for index in np.ndindex(x.shape):
        old = x[index]
        x[index] = old + step
        above = loss()
        x[index] = old - step
        gradient[index] = (above - loss()) / (2 * step)
        x[index] = old
    return gradient
