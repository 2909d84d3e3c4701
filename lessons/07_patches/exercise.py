"""Lesson 7: patches. Fill in the functions, then run: pytest lessons/07_patches"""

import numpy as np  # noqa: F401 - you may want it


def patchify(images, patch):
    """Cut images (B, H, W, C) into patches (B, T, P*P*C), P = patch; return them and a cache.

    Raise ValueError if P does not divide both H and W.
    """
    raise NotImplementedError("write patchify: split both spatial axes, reorder the axes, flatten")


def unpatchify(patches, shape, patch):
    """Put images of the given shape (B, H, W, C) together from their patches (B, T, P*P*C)."""
    raise NotImplementedError("write unpatchify: the steps of patchify undone, the last one first")


def patchify_backward(dy, cache):
    """The gradient of the images (B, H, W, C) from that of their patches, dy (B, T, P*P*C)."""
    raise NotImplementedError("write patchify_backward: equation 2, every gradient back to its pixel")


def guilty_patchify():
    """The name of the wrong backward in suspects.py, and images (B, H, W, C) in float64 that expose it.

    Return (name, images). All three suspects cut patches of 2 x 2 pixels.
    """
    raise NotImplementedError("write guilty_patchify: return a name and images on which that one is wrong")


# The puzzle


def overlapping_patches_backward(dy, shape, patch, stride):
    """The gradient of images of the given shape (B, H, W, C) if their patches may overlap.

    Patch row r and column c start at pixel (r * stride, c * stride), for every r and c for which the patch
    lies within the image. Patches are in reading order, and so are the numbers in each:
    dy is (B, rows * columns, P*P*C).
    """
    raise NotImplementedError("write overlapping_patches_backward: how often was each pixel used?")
