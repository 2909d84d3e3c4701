"""Lesson 15: data. Fill in the three functions, then run: pytest lessons/15_data"""

import numpy as np  # noqa: F401 - you will want it


def crop_and_flip(images, indices, down, right, flip):
    """The chosen images, each seen through a window moved down and to the right, then mirrored if flip.

    images (n, H, W, 3) uint8; indices, down, right (B,) integers, flip (B,) bool, |down| < H and |right| < W.
    Where the window reaches over an edge it sees the image mirrored there. Returns (B, H, W, 3) uint8.
    """
    raise NotImplementedError("write crop_and_flip: work out source rows and columns, reflect them, gather")


def drop_path(x, rate, noise):
    """Leave out the branch x (B, N, D) of whole images, with probability rate; return y and a cache.

    Draw with noise.uniform((B, 1, 1), np): an image is kept where its number is >= rate. If noise is None or
    rate is 0, x comes back as it is.
    """
    raise NotImplementedError("write drop_path: one mask number for each image, equation drop path 1")


def drop_path_backward(dy, cache):
    """dx (B, N, D), the gradient of drop_path."""
    raise NotImplementedError("write drop_path_backward: equation drop path 2")
