"""Lesson 7: patches. Fill in the three functions, then run: pytest lessons/07_patches"""

import numpy as np  # noqa: F401 - you may want it


def patchify(images, patch):
    """Cut images (B, H, W, C) into patches (B, T, P*P*C), P = patch; return them and a cache.

    Raise ValueError if P does not divide H or W.
    """
    raise NotImplementedError(
        "write patchify: split both spatial axes, bring the patch axes forward, flatten"
    )


def unpatchify(patches, shape, patch):
    """Put images of the given shape (B, H, W, C) together from their patches (B, T, P*P*C)."""
    raise NotImplementedError("write unpatchify: the steps of patchify undone, the last one first")


def patchify_backward(dy, cache):
    """The gradient of the images (B, H, W, C) from that of their patches, dy (B, T, P*P*C)."""
    raise NotImplementedError("write patchify_backward: equation 2, every gradient back to its pixel")
