"""Lesson 3: checking gradients. Fill in the functions, then run: pytest lessons/03_gradient_checking"""

import numpy as np  # noqa: F401 - you will want it


def numerical_gradient(loss, x, step=1e-5):
    """Equation 1 for every number of x, in an array like x. loss() takes nothing: it reads x, as it is then.

    So move one number of x in place, call loss(), and leave x exactly as it was in the end. Raise ValueError
    unless x is float64.
    """
    raise NotImplementedError("write numerical_gradient: equation 1, one number of x after the other")


def gradient_error(by_hand, numerical):
    """Distance of two arrays, relative to their size, as a float."""
    raise NotImplementedError("write gradient_error: equation 2, with the norms of the whole arrays")


def wrong_backwards(suspects, rng):
    """The names of the suspects whose backward is wrong, a list in the order given.

    suspects: name -> (forward, backward, inputs), as in suspects.py. A backward is wrong if the error is not
    below 1e-6 for each of the inputs, or a gradient is shaped unlike its input. Draw dy with
    rng.standard_normal.
    """
    raise NotImplementedError("write wrong_backwards: a random dy, then compare the gradient of every input")
