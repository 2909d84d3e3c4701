"""Lesson 15: recipes. Fill in the functions, then run: pytest lessons/15_recipes"""

import math  # noqa: F401 - you will want it
from importlib import import_module

import numpy as np  # noqa: F401 - and this

from tinyvit.ops import cross_entropy, cross_entropy_backward  # noqa: F401 - of lesson 1, for soft targets too

LIMITS = import_module("lessons.13_train_cifar10.limits").LIMITS  # Student's t for 1 to 30 degrees of freedom


def orthogonalise(g, steps=5):
    """The matrix g (A, B) with its singular values brought close to 1; a new array, shaped and typed as g.

    steps is how often the polynomial is applied. A matrix of zeros stays one. A tall matrix is transposed for
    speed only: the results are the same.
    """
    raise NotImplementedError("write orthogonalise: divide by the norm, then equation 2, steps times")


def average_step(average, weights, decay, step):
    """The running average after update number step, counted from 1; a new array.

    average is the one before, weights are those after the update. decay is that of a long run, such as 0.999.
    """
    raise NotImplementedError("write average_step: equations 3 and 4")


def mixed_cross_entropy(logits, labels, shares):
    """The mean loss of mixed images, and its gradient dlogits (B, C).

    logits (B, C). Image i of the batch is mixed with image i + 1, and the last with the first: shares[i] is
    how much of it is the next image. labels (B,) are whole numbers, those of the images before they were
    mixed.
    """
    raise NotImplementedError("write mixed_cross_entropy: a target for each mixed image, then lesson 1")


def real_gains(accuracies, base):
    """The names of the variants whose mean differs from that of `base` by more than chance does, as a list.

    accuracies is a dict: for each name, base among them, a list of results, one for each seed. The spread is
    estimated from all of them together. The names are in the order of the dict; the list is empty if no name
    has two results, since nothing is known of the spread then.
    """
    raise NotImplementedError("write real_gains: equations 7 and 8, and LIMITS")


def trust_orthogonalise(orthogonalise):
    """True if this orthogonalise(g), called with a matrix alone, is right, and False if it is not.

    Right is whatever returns a new array with the singular vectors of g, and brings every singular value that
    is at least a 500th of the norm of g (the root of the sum of all squares) to between 0.6 and 1.3. That
    norm is above 1e-6.
    """
    raise NotImplementedError("write trust_orthogonalise: matrices of which you know the decomposition")


# The puzzle


def nearest_factors(product, rank):
    """Thin matrices left (A, rank) and right (B, rank), with left @ right.T nearest to product (A, B).

    Near means: the sum of the squares of all differences is as small as possible. Neither factor may be
    larger than the other: left.T @ left equals right.T @ right.
    """
    raise NotImplementedError("write nearest_factors: what of the product can so few columns keep?")
