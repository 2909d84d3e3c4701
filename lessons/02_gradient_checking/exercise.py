"""Lesson 2: checking gradients. Fill in the functions, then run: pytest lessons/02_gradient_checking"""

import numpy as np  # noqa: F401 - you will want it


def numerical_gradient(loss, x, step=1e-5):
    """Equation 1 for every number of x, in an array like x. loss() takes nothing: it reads x, as it is then.

    So move one number of x in place, call loss(), and leave x exactly as it was in the end. x may have any
    number of axes, also none. Raise ValueError unless x is float64.
    """
    raise NotImplementedError("write numerical_gradient: equation 1, one number of x after the other")


def gradient_error(by_hand, numerical):
    """Distance of two arrays, relative to their size, as a float. Not below 1e-6 if any number is NaN."""
    raise NotImplementedError("write gradient_error: equation 2, with the norms of the whole arrays")


def wrong_backwards(suspects, rng):
    """The names of the suspects whose backward is wrong, a list in the order given.

    suspects: name -> (forward, backward, inputs), as in suspects.py. A backward returns a tuple,
    even of a single gradient. It is right if there is one for each input, shaped like it, and all errors are
    below 1e-6. Draw dy with rng.standard_normal.
    """
    raise NotImplementedError("write wrong_backwards: a random dy, then compare the gradient of every input")


# The puzzles


def guilty_pick():
    """The wrong backward among suspects.PICKS, and an input that shows it: (name, x).

    x is a float64 array (R, N).
    """
    raise NotImplementedError("write guilty_pick: a name from suspects.PICKS, and an array")


def check_in_two(forward, backward, inputs, rng):
    """An error as in equation 2, however many numbers inputs have, from three calls of forward: one for the
    cache, and two for the pushes.

    inputs: a tuple of float64 arrays; backward returns a tuple with a gradient for each. The error is below
    1e-6 if all gradients are right, and almost surely above it if one is wrong.
    """
    raise NotImplementedError("write check_in_two: which single push would any wrong gradient betray?")
