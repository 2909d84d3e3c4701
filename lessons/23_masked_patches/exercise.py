"""Lesson 23: masked patches. Fill in the functions, then run: pytest lessons/23_masked_patches"""

import numpy as np  # noqa: F401 - you will want it


def take_seen_backward(dy, cache):
    """dx (B, T, D) from dy (B, n, D); the cache of take_seen is (seen, (B, T, D)), with seen (B, n)."""
    raise NotImplementedError("write take_seen_backward: where does each row of dy come from?")


def put_back(y, mask_token, positions, seen):
    """All places of the picture, for the decoder: z (B, T, E), and a cache.

    Place seen[b, i] of picture b gets the token y[b, i], and every other place mask_token. Then each place
    gets its position. y (B, n, E), mask_token (E,), positions (T, E), seen (B, n), no place twice.
    """
    raise NotImplementedError("write put_back: equation 2")


def put_back_backward(dz, cache):
    """dy (B, n, E), dmask_token (E,) and dpositions (T, E) from dz (B, T, E)."""
    raise NotImplementedError("write put_back_backward: for each of the three, where is it in z?")


def painting_loss(painted, patches, seen, eps):
    """The mean squared error of the hidden patches, and its gradient with respect to everything painted.

    painted (B, T, Q, C) is what the decoder says of the Q pixels of every patch, in C channels, patches
    (B, T, Q, C) is what they are, and seen (B, n) says which patches are in sight. Equations 3 and 4.
    Returns loss, a number, and dpainted (B, T, Q, C).
    """
    raise NotImplementedError("write painting_loss: normalise every patch, and let the hidden ones count")


def trust_put_back(forward, backward):
    """True if these two are a right put_back and put_back_backward, otherwise False.

    forward(y, mask_token, positions, seen) returns (z, cache), and backward(dz, cache) returns
    (dy, dmask_token, dpositions), in the right shapes.
    """
    raise NotImplementedError("write trust_put_back: choose pictures in which nothing can hide, and check")


# The puzzle: how often is there nothing to copy from?


def lonely(patches, seen, near):
    """The probability that none of the `near` neighbours of a hidden patch is in sight, as a float.

    Of `patches` patches, `seen` are in sight, and every choice of them is equally likely.
    """
    raise NotImplementedError("write lonely: how many choices leave all of these patches hidden?")
