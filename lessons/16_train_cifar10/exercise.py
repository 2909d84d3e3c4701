"""Lesson 16: reading a run. Fill in the three functions, then run: pytest lessons/16_train_cifar10"""

import math  # noqa: F401 - you will want it


def smooth(values, share):
    """Running mean of a list of numbers: each keeps `share` of the one before; corrected at the start.

    Returns a list of floats as long as values. With share 0 it is the values themselves.
    """
    raise NotImplementedError("write smooth: equations 3 and 4")


def best_epoch(records):
    """The epoch with the highest val_accuracy, or test_accuracy where there is no val_accuracy.

    records: dicts as in metrics.jsonl. Of several equal ones the first; values of None do not count.
    """
    raise NotImplementedError("write best_epoch: find the key to judge by, then the first highest value")


def verdict(records, classes):
    """One of 'diverged', 'not learning', 'overfitting', 'learning': see the table."""
    raise NotImplementedError("write verdict: the lines of the table in README.md, from top to bottom")
