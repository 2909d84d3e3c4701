"""All numbers are pushed by the same amount: a softmax does not feel it."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.02_gradient_checking.solution")
numerical_gradient = solution.numerical_gradient
gradient_error = solution.gradient_error
wrong_backwards = solution.wrong_backwards
guilty_pick = solution.guilty_pick


class Even:
    """A generator whose second and later draws are all ones."""

    def __init__(self, rng):
        self.rng, self.drawn = rng, False

    def standard_normal(self, shape):
        if self.drawn:
            return np.ones(shape)
        self.drawn = True
        return self.rng.standard_normal(shape)


def check_in_two(forward, backward, inputs, rng):
    return solution.check_in_two(forward, backward, inputs, Even(rng))
