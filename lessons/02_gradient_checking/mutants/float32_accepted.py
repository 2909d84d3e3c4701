"""Any dtype is taken."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two
gradient_error = solution.gradient_error
wrong_backwards = solution.wrong_backwards


def numerical_gradient(loss, x, step=1e-5):
    gradient = np.empty_like(x)
    for place in np.ndindex(x.shape):
        here = x[place]
        x[place] = here + step
        above = loss()
        x[place] = here - step
        gradient[place] = (above - loss()) / (2 * step)
        x[place] = here
    return gradient
