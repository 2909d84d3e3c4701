"""numpy.allclose with its own tolerances, which are ten times too generous."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.03_gradient_checking.solution")
numerical_gradient = solution.numerical_gradient
gradient_error = solution.gradient_error
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two


def wrong_backwards(suspects, rng):
    wrong = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        dy = rng.standard_normal(y.shape)
        gradients = backward(dy, cache)
        right = len(gradients) == len(inputs)
        for x, by_hand in zip(inputs, gradients, strict=False):
            numerical = solution.numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)  # noqa: B023
            right = right and by_hand.shape == x.shape and np.allclose(by_hand, numerical)
        if not right:
            wrong.append(name)
    return wrong
