"""The difference over both sides is divided by one step."""

import importlib

solution = importlib.import_module("lessons.02_gradient_checking.solution")
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two
gradient_error = solution.gradient_error
wrong_backwards = solution.wrong_backwards


def numerical_gradient(loss, x, step=1e-5):
    return 2 * solution.numerical_gradient(loss, x, step)
