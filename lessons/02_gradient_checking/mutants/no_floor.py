"""Two gradients that are zero are divided by zero."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two
numerical_gradient = solution.numerical_gradient
wrong_backwards = solution.wrong_backwards


def gradient_error(by_hand, numerical):
    return float(np.linalg.norm(by_hand - numerical) / (np.linalg.norm(by_hand) + np.linalg.norm(numerical)))
