"""Lesson 16: scaling. Fill in the functions, then run: pytest lessons/16_scaling"""

import math  # noqa: F401 - you will want it
from importlib import import_module

import numpy as np  # noqa: F401 - and this

LIMITS = import_module("lessons.13_train_cifar10.limits").LIMITS  # Student's t for 1 to 30 degrees of freedom


def multiply_adds_of_vit(image_side, patch_size, width, mlp_width, layers, classes):
    """Multiply-adds of one forward pass of a ViT with a class token on one square colour image.

    All matrix products count, and nothing else: patch embedding, blocks, and the head, which reads one token.
    """
    raise NotImplementedError("write multiply_adds_of_vit: patch embedding, layers times equation 1, head")


def is_difference(first, second):
    """True if the means of two lists of results differ by more than chance does in 5 % of comparisons.

    One result for each seed, at least one in each list; the lists need not be equally long. Otherwise
    False, and also if there is only one of each, since nothing is known of their spread then.
    """
    raise NotImplementedError("write is_difference: equations 2 and 3, and LIMITS")


def fit_power_law(compute, error):
    """The (a, b) of error = a compute^-b that fit best: least squares in the logarithms.

    compute and error are lists or arrays of positive numbers, two of them or more.
    """
    raise NotImplementedError("write fit_power_law: equations 6 and 7")


def crossing(sizes, first, second):
    """The size from which the second model is ahead for good, or None if the curves do not cross there.

    sizes are increasing; first and second are the accuracies of two models at each of them. Look for the last
    size at which the second is not ahead, and follow both curves in straight lines over a logarithmic
    axis from there to the next. None if there is no such size, or if it is the last one.
    """
    raise NotImplementedError("write crossing: the last change of sign, and where the lines meet")


def trust_comparison(decide):
    """True if decide(first, second) can be trusted to do what is_difference does, otherwise False.

    Without a difference it must say True in at most about 5 % of comparisons, whatever the mean, the spread
    and the numbers of seeds (two or more); and it must see a difference that is many times the spread.
    """
    raise NotImplementedError("write trust_comparison: draw results at random, and count what decide says")


# The puzzle


def best_split(budget, model, images):
    """The size of model to train, and the number of images to train it with, for the lowest error: (n, d).

    n is the multiply-adds of a forward pass on one image, d the number of images seen. Training costs three
    times the forward passes, and budget is what there is to spend, all of it. With model = (A, alpha)
    and images = (B, beta), the error is A n^-alpha + B d^-beta + something that nobody can change.
    """
    raise NotImplementedError("write best_split: spend the budget where the next multiply-add does most")
