"""The search ends with the first wrong backward."""

import importlib

solution = importlib.import_module("lessons.02_gradient_checking.solution")
numerical_gradient = solution.numerical_gradient
gradient_error = solution.gradient_error
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two


def wrong_backwards(suspects, rng):
    return solution.wrong_backwards(suspects, rng)[:1]
