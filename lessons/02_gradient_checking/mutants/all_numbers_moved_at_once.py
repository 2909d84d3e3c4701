"""All numbers are moved at once, so that every slope is that of their sum."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
gradient_error = solution.gradient_error
wrong_backwards = solution.wrong_backwards
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two


def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64:
        raise ValueError(f"x is {x.dtype}, expected float64")
    kept = x.copy()
    x[...] = kept + step
    above = loss()
    x[...] = kept - step
    below = loss()
    x[...] = kept
    return np.full_like(x, (above - below) / (2 * step))
