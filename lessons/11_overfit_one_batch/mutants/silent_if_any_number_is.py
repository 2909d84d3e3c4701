"""A parameter counts as silent as soon as one of its numbers has not moved."""

import importlib

solution = importlib.import_module("lessons.11_overfit_one_batch.solution")
train_on_batch, diagnose = solution.train_on_batch, solution.diagnose
trust_loop, what_went_wrong = solution.trust_loop, solution.what_went_wrong


def silent_parameters(before, after):
    return [name for name in before if (before[name] == after[name]).any()]
