"""Only the gradient with the largest norm is compared."""

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
        if [g.shape for g in gradients] != [x.shape for x in inputs]:
            wrong.append(name)
            continue
        largest = int(np.argmax([np.linalg.norm(g) for g in gradients]))
        numerical = solution.numerical_gradient(lambda: (forward(*inputs)[0] * dy).sum(), inputs[largest])  # noqa: B023
        if not solution.gradient_error(gradients[largest], numerical) < 1e-6:
            wrong.append(name)
    return wrong
