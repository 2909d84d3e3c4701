"""The optimiser is made in the loop, so that it forgets its running means."""

import importlib

from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW

solution = importlib.import_module("lessons.11_overfit_one_batch.solution")
diagnose, silent_parameters = solution.diagnose, solution.silent_parameters
trust_loop, what_went_wrong = solution.trust_loop, solution.what_went_wrong


def train_on_batch(config, params, images, labels, steps, lr):
    grads, losses = params.zeros_like(), []
    for step in range(1, steps + 1):
        grads.flat.fill(0)
        losses.append(float(loss_and_grads(config, params, images, labels, grads)))
        AdamW(params).step(grads, lr, step)
    return losses
