"""Lesson 18: transfer. Fill in the functions, then run: pytest lessons/18_transfer"""

import numpy as np  # noqa: F401 - you will want it


def probe_inputs(features, mean, std):
    """X (n, F) of a probe, for features (n, F - 1), in float64: standardised, and a last column of 100.

    mean and std (F - 1,) are those of the training images, whatever images the features belong to.
    """
    raise NotImplementedError("write probe_inputs: equation 1, with the mean and the std that are given")


def ridge_weights(X, Y, ridge):
    """The W (F, C) that makes |X W - Y|^2 + ridge |W|^2 least, for X (n, F) and Y (n, C).

    Solves the smaller system: F x F if n >= F, n x n otherwise. float32 in, float32 out.
    """
    raise NotImplementedError("write ridge_weights: where is the gradient zero? And which system is smaller?")


def trust_ridge(solve):
    """True if W = solve(X, Y, ridge) is the W (F, C) at which the loss of equation 3 is least, else False.

    You need no other solver to tell: at the lowest point of a bowl its gradient is zero.
    """
    raise NotImplementedError("write trust_ridge: the gradient of equation 3 at W, for X of several shapes")


# The puzzle: how good is the probe on images that it was not fitted to, if there are no others?


def leave_one_out(X, Y, ridge):
    """For each image i, the scores (C,) that it gets from the probe fitted to all images but i; (n, C).

    X (n, F), Y (n, C), ridge > 0. Solves, inverts or decomposes one matrix once, not one for each image.
    """
    raise NotImplementedError("write leave_one_out: what does image i change in its own score?")
