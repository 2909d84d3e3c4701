"""Lesson 12: data. Fill in the functions, then run: pytest lessons/12_data"""

import numpy as np  # noqa: F401 - you will want it


def crop_and_flip(images, indices, down, right, flip):
    """The chosen images, each seen through a window moved down and to the right, then mirrored if flip.

    images (n, H, W, 3) uint8; indices, down, right (B,) integers, flip (B,) bool, |down| < H and |right| < W.
    Where the window reaches over an edge it sees the image mirrored there. Returns (B, H, W, 3) uint8.
    """
    raise NotImplementedError("write crop_and_flip: source rows and columns of every image, then one gather")


def drop_path(x, rate, noise):
    """Leave out the branch x (B, N, D) of whole images, with probability rate; return y and a cache.

    Draw once, with noise.uniform((B, 1, 1), np): an image is kept where its number is >= rate. If noise is
    None or rate is 0, x comes back as it is.
    """
    raise NotImplementedError("write drop_path: one number of the mask for each image, equation drop path 1")


def drop_path_backward(dy, cache):
    """dx (B, N, D), the gradient of drop_path."""
    raise NotImplementedError("write drop_path_backward: what became of x in the forward becomes of dy")


def guilty_drop_path():
    """(name, x): the one suspect in suspects.py whose backward is wrong, and an x (B, N, D) that shows it.

    name is its key in SUSPECTS. x is float64 and has at most 2,000 numbers.
    """
    raise NotImplementedError("write guilty_drop_path: check all three on inputs of several sizes")


# The puzzle


def hold_out(labels, count, seed):
    """Split images by their labels (n,) for training and validation; return (train, held_out), two arrays.

    held_out has count indices, train all others, both in ascending order. Every class gives its share: count
    times its part of all images or, as that is seldom a whole number, as near to it as possible. Which
    images of a class are taken is random, and depends on the seed alone: draw with a generator of your own,
    and leave NumPy's global one as it is.
    """
    raise NotImplementedError("write hold_out: decide how many of each class, then which of them")
