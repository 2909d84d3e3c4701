"""The numbers are moved in x.reshape(-1), which is a copy where x is not contiguous."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
gradient_error = solution.gradient_error
wrong_backwards = solution.wrong_backwards
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two


def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError("expected float64")
    gradient, numbers = np.zeros(x.size), x.reshape(-1)
    for i in range(x.size):
        here = numbers[i]
        numbers[i] = here + step
        above = loss()
        numbers[i] = here - step
        gradient[i] = (above - loss()) / (2 * step)
        numbers[i] = here
    return gradient.reshape(x.shape)
