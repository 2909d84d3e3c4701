"""zip stops at the shorter: a gradient that is missing is never looked at."""

import importlib

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
        errors = []
        for x, by_hand in zip(inputs, gradients, strict=False):
            if by_hand.shape != x.shape:
                errors.append(1.0)
                continue
            numerical = solution.numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)  # noqa: B023
            errors.append(solution.gradient_error(by_hand, numerical))
        if not max(errors) < 1e-6:
            wrong.append(name)
    return wrong
