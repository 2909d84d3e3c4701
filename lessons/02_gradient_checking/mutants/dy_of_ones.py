"""The loss is the sum of the outputs: a dy of ones."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two
numerical_gradient = solution.numerical_gradient
gradient_error = solution.gradient_error


def wrong_backwards(suspects, rng):
    wrong = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        dy = np.ones_like(y)
        gradients = backward(dy, cache)
        errors = [0.0 if len(gradients) == len(inputs) else 1.0]
        for x, by_hand in zip(inputs, gradients, strict=False):
            numerical = solution.numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)  # noqa: B023
            errors.append(solution.gradient_error(by_hand, numerical) if by_hand.shape == x.shape else 1.0)
        if any(error >= 1e-6 for error in errors):
            wrong.append(name)
    return wrong
