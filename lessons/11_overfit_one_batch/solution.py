"""The smallest training loop there is, and ways to look at what it did."""

import math

import numpy as np

from tinyvit.gradcheck import random_params
from tinyvit.model import ViTConfig
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW


def train_on_batch(config, params, images, labels, steps, lr):
    """Train params, in place, on this one batch; return a list of losses, floats, each before its update."""
    grads, optimizer, losses = params.zeros_like(), AdamW(params), []
    for step in range(1, steps + 1):
        grads.flat.fill(0)  # loss_and_grads adds to what is there
        losses.append(float(loss_and_grads(config, params, images, labels, grads)))
        optimizer.step(grads, lr, step)
    return losses


def diagnose(losses, classes):
    """The verdict on a list of losses on one batch."""
    guess = math.log(classes)
    if not np.isfinite(losses).all():
        return "not finite"
    if abs(losses[0] - guess) > 0.01 * guess:
        return "wrong start"
    if max(losses) > 1.5 * guess:
        return "exploded"
    if losses[-1] > 0.9 * guess:
        return "stuck"
    return "learned" if losses[-1] < 0.1 * guess else "slow"


def silent_parameters(before, after):
    """Names of the parameters in which no number has moved."""
    return [name for name in before if np.array_equal(before[name], after[name])]


def trust_loop(train_on_batch):
    """Twelve steps of a random model: every loss, and every parameter afterwards, as from an own loop."""
    rng = np.random.default_rng(0)
    config = ViTConfig(4, 2, width=4, mlp_width=6, heads=2, layers=1, classes=3)
    params, images, labels = random_params(config, rng), rng.normal(size=(5, 4, 4, 3)), rng.integers(0, 3, 5)
    own, grads, expected = params.astype("float64"), params.zeros_like(), []
    m, v = 0 * own.flat, 0 * own.flat
    for step in range(1, 13):
        grads.flat[:] = 0
        expected.append(float(loss_and_grads(config, own, images, labels, grads)))
        m = 0.9 * m + 0.1 * grads.flat
        v = 0.999 * v + 0.001 * grads.flat**2
        own.flat -= 0.02 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    got = train_on_batch(config, params, images, labels, 12, 0.02)
    return len(got) == 12 and np.allclose(got, expected) and np.allclose(params.flat, own.flat, atol=1e-7)


# The puzzle


def what_went_wrong():
    """A falls smoothly but ever more slowly, B stays at the labels' entropy and jumps, C jitters down."""
    return {
        "A": "only the head is trained",
        "B": "labels shuffled in every step",
        "C": "a new optimiser in every step",
    }
