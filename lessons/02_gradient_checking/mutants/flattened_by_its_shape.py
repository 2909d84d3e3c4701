"""The caller's array is flattened by setting its shape, and stays flat."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
gradient_error = solution.gradient_error
wrong_backwards = solution.wrong_backwards
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two


def numerical_gradient(loss, x, step=1e-5):
    if x.dtype != np.float64 or not x.flags.c_contiguous:
        raise ValueError("expected contiguous float64")
    shape = x.shape
    gradient = solution.numerical_gradient(loss, x, step)
    x.shape = (-1,)
    return gradient.reshape(shape)
