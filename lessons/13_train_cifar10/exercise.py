"""Lesson 13: the whole loop. Fill in the functions, then run: pytest lessons/13_train_cifar10"""

import math  # noqa: F401 - you will want it
from importlib import import_module

import numpy as np  # noqa: F401 - and it

from tinyvit.data import normalise  # noqa: F401 - and normalise(images, model.params.flat.dtype)
from tinyvit.ops import Noise, cross_entropy  # noqa: F401 - and these

parts = import_module("lessons.13_train_cifar10.parts")  # augment, adamw_step, clip_norm, learning_rate


def evaluate(model, images, labels, batch_size):
    """(mean loss, accuracy) of a parts.Model: two floats, means over all images.

    images, bytes (n, H, W, 3), are normalised, not augmented, and shown at most batch_size at a time; labels
    (n,) are integers.
    """
    raise NotImplementedError("write evaluate: batch by batch, the sum of the losses and the right answers")


def fit(model, data, epochs, batch_size, peak, warmup_epochs, weight_decay, seed, report):
    """Train a parts.Model, in place, by the rules in README.md; return (best, records).

    data.train, data.validation and data.test have .images, bytes (n, H, W, 3), and .labels (n,).
    peak is the highest learning rate, and warmup_epochs a whole number.
    records: a dict for each epoch, {'epoch': from 1, 'train_loss', 'val_loss', 'val_accuracy'}, given to
    report(record) as soon as the epoch is over. best: a copy of the parameters, Params, after the best
    epoch; params.astype makes one.
    """
    raise NotImplementedError("write fit: epochs, in them batches, and after each epoch a look at validation")


def verdict(records, classes):
    """'diverged', 'rate too high', 'rate too low', 'overfitting' or 'learning': see the table."""
    raise NotImplementedError("write verdict: the lines of the table in README.md, from top to bottom")


# The puzzle

CAUSES = (
    "labels shuffled",  # the training labels, once, before the run
    "rate too low",
    "too few images",  # the model learns them by heart
    "held-out images normalised differently",  # to 0..1, the training images to -1..1
    "held-out images among the training images",
    "gradients never cleared",
)


def faults_found():
    """The fault of each run of unlabelled.json: {"A": cause, ..., "D": cause}, causes from CAUSES."""
    raise NotImplementedError("read the four runs of unlabelled.json, and return a cause for each")
