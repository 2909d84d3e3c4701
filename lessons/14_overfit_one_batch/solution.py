"""The smallest training loop there is, and two ways to look at what it did."""

import math

import numpy as np

from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW


def train_on_batch(config, params, images, labels, steps, lr):
    """Train params, in place, on this one batch; return the list of losses, each before its update."""
    grads, optimizer, losses = params.zeros_like(), AdamW(params), []
    for step in range(1, steps + 1):
        grads.flat.fill(0)  # loss_and_grads adds to what is there
        losses.append(float(loss_and_grads(config, params, images, labels, grads)))
        optimizer.step(grads, lr, step)
    return losses


def diagnose(losses, classes):
    """What a list of losses on one batch says."""
    guess = math.log(classes)
    if not np.isfinite(losses).all():
        return "not finite"
    if abs(losses[0] - guess) > 0.01 * guess:
        return "wrong start"
    if losses[-1] > 1.5 * guess:
        return "exploded"
    if losses[-1] > 0.9 * guess:
        return "stuck"
    return "learned" if losses[-1] < 0.1 * guess else "slow"


def silent_parameters(before, after):
    """Names of the parameters in which no number has moved."""
    return [name for name in before if np.array_equal(before[name], after[name])]
