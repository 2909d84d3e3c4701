"""The right name, with rows of four numbers, on which all three agree."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
numerical_gradient = solution.numerical_gradient
gradient_error = solution.gradient_error
wrong_backwards = solution.wrong_backwards
check_in_two = solution.check_in_two


def guilty_pick():
    return solution.guilty_pick()[0], np.arange(12.0).reshape(3, 4)
