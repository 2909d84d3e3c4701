"""What is kept of x is a view, or x itself, and moves along: keep the number, or a copy."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
gradient_error, wrong_backwards = solution.gradient_error, solution.wrong_backwards
guilty_pick, check_in_two = solution.guilty_pick, solution.check_in_two


def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("x must be float64")
    gradient = np.zeros_like(x)
    old = x.view()
    for index in np.ndindex(x.shape):
        x[index] = old[index] + step
        above = loss()
        x[index] = old[index] - step
        gradient[index] = (above - loss()) / (2 * step)
        x[index] = old[index]
    return gradient
