"""The matrix norm 2, which is the largest singular value and not the root of all squares."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
numerical_gradient = solution.numerical_gradient
wrong_backwards = solution.wrong_backwards
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two


def gradient_error(by_hand, numerical):
    if by_hand.ndim != 2 or by_hand.size == 0:
        return solution.gradient_error(by_hand, numerical)
    norm = lambda array: np.linalg.norm(np.nan_to_num(array, nan=np.inf, posinf=1e300), 2)
    return float(norm(by_hand - numerical) / max(norm(by_hand) + norm(numerical), 1e-3))
