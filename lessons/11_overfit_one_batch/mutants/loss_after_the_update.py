"""The loss is computed once more after the update, and that one is returned."""

import importlib

from tinyvit.objectives import loss_and_grads

solution = importlib.import_module("lessons.11_overfit_one_batch.solution")
diagnose, silent_parameters = solution.diagnose, solution.silent_parameters
trust_loop, what_went_wrong = solution.trust_loop, solution.what_went_wrong


def train_on_batch(config, params, images, labels, steps, lr):
    losses = solution.train_on_batch(config, params, images, labels, steps, lr)
    return [*losses[1:], float(loss_and_grads(config, params, images, labels, params.zeros_like()))]
