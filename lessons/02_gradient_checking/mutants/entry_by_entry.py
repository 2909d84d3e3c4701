"""The worst relative error of any single entry."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two
numerical_gradient = solution.numerical_gradient
wrong_backwards = solution.wrong_backwards


def gradient_error(by_hand, numerical):
    scale = np.maximum(abs(by_hand) + abs(numerical), 1e-30)
    return float((abs(by_hand - numerical) / scale).max(initial=0))
