"""A suspect is named once for each of its gradients that is wrong."""

import importlib

solution = importlib.import_module("lessons.02_gradient_checking.solution")
numerical_gradient = solution.numerical_gradient
gradient_error = solution.gradient_error
guilty_pick = solution.guilty_pick
check_in_two = solution.check_in_two


def wrong_backwards(suspects, rng):
    named = []
    for name, (forward, backward, inputs) in suspects.items():
        y, cache = forward(*inputs)
        dy = rng.standard_normal(y.shape)
        gradients = backward(dy, cache)
        if [g.shape for g in gradients] != [x.shape for x in inputs]:
            named.append(name)
            continue
        for x, by_hand in zip(inputs, gradients, strict=True):
            numerical = numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), x)  # noqa: B023
            if not gradient_error(by_hand, numerical) < 1e-6:
                named.append(name)
    return named
