"""The sums of two parameters are compared instead of their numbers."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.11_overfit_one_batch.solution")
train_on_batch, diagnose = solution.train_on_batch, solution.diagnose
trust_loop, what_went_wrong = solution.trust_loop, solution.what_went_wrong


def silent_parameters(before, after):
    return [name for name in before if np.isclose(before[name].sum(), after[name].sum())]
