"""The gradients of all steps so far are added up."""

import importlib

from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW

solution = importlib.import_module("lessons.11_overfit_one_batch.solution")
diagnose, silent_parameters = solution.diagnose, solution.silent_parameters
trust_loop, what_went_wrong = solution.trust_loop, solution.what_went_wrong


def train_on_batch(config, params, images, labels, steps, lr):
    grads, optimizer, losses = params.zeros_like(), AdamW(params), []
    for step in range(1, steps + 1):
        losses.append(float(loss_and_grads(config, params, images, labels, grads)))
        optimizer.step(grads, lr, step)
    return losses
