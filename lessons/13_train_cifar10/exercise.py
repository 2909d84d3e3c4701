"""Lesson 13: reading a run. Fill in the functions, then run: pytest lessons/13_train_cifar10"""

import math  # noqa: F401 - you will want it


def smooth(values, share):
    """Running mean of a list of numbers: each keeps `share` of the one before; corrected at the start.

    Returns a list of floats as long as values. With share 0 it is the values themselves.
    """
    raise NotImplementedError("write smooth: a running mean that is not too low at its start")


def best_epoch(records):
    """The epoch with the highest val_accuracy, or test_accuracy where there is no val_accuracy.

    records: dicts as in metrics.jsonl. Of several equal ones the first; values of None do not count.
    """
    raise NotImplementedError("write best_epoch: find the key to judge by, then the first highest value")


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
    """What is wrong with each run of unlabelled.json: {"A": cause, ..., "D": cause}, causes from CAUSES."""
    raise NotImplementedError("read the four runs of unlabelled.json, and return a cause for each")
