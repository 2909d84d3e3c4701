"""Lesson 11: the training loop. Fill in the functions, then run: pytest lessons/11_overfit_one_batch"""

import math  # noqa: F401 - you will want it

import numpy as np  # noqa: F401 - and it

from tinyvit.objectives import loss_and_grads  # noqa: F401 - and these
from tinyvit.optim import AdamW  # noqa: F401


def train_on_batch(config, params, images, labels, steps, lr):
    """Train params, in place, on this one batch with AdamW; return a list of losses, each before its update.

    images (B, H, W, 3), normalised; labels (B,) integers; the losses are Python floats. AdamW as it is by
    default: no weight decay.
    """
    raise NotImplementedError("write train_on_batch: clear the gradients, compute loss and gradients, step")


def diagnose(losses, classes):
    """One of 'not finite', 'wrong start', 'exploded', 'stuck', 'learned', 'slow': see the table."""
    raise NotImplementedError("write diagnose: the tests of the table in README.md, from top to bottom")


def silent_parameters(before, after):
    """A list of the names, in order, of the parameters in which no number has moved.

    before and after are Params, with the same names.
    """
    raise NotImplementedError("write silent_parameters: go through the names, compare the two arrays")


def trust_loop(train_on_batch):
    """True if this train_on_batch, called as the one above, does what it should, and False if it does not."""
    raise NotImplementedError("write trust_loop: look at the losses, and at the parameters afterwards")


# The puzzle


def what_went_wrong():
    """The fault of each run in runs.py, as a dict: {'A': one of FAULTS, 'B': another, 'C': another}."""
    raise NotImplementedError(
        "write what_went_wrong: plant each fault in your own loop, and compare the curves"
    )
