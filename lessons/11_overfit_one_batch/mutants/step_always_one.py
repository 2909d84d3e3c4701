"""The optimiser is told that every step is the first."""

import importlib

from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW

solution = importlib.import_module("lessons.11_overfit_one_batch.solution")
diagnose, silent_parameters = solution.diagnose, solution.silent_parameters
trust_loop, what_went_wrong = solution.trust_loop, solution.what_went_wrong


def train_on_batch(config, params, images, labels, steps, lr):
    grads, optimizer, losses = params.zeros_like(), AdamW(params), []
    for _ in range(steps):
        grads.flat.fill(0)
        losses.append(float(loss_and_grads(config, params, images, labels, grads)))
        optimizer.step(grads, lr, 1)
    return losses
