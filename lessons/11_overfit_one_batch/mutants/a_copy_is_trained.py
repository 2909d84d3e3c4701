"""A copy of the parameters is trained, and thrown away."""

import importlib

solution = importlib.import_module("lessons.11_overfit_one_batch.solution")
diagnose, silent_parameters = solution.diagnose, solution.silent_parameters
trust_loop, what_went_wrong = solution.trust_loop, solution.what_went_wrong


def train_on_batch(config, params, images, labels, steps, lr):
    return solution.train_on_batch(config, params.astype(params.flat.dtype), images, labels, steps, lr)
