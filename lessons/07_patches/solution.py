"""The library's own patches are the model answer; what it has no need of is written out here."""

import numpy as np

from tinyvit.ops import patchify, patchify_backward, unpatchify

__all__ = ["guilty_patchify", "overlapping_patches_backward", "patchify", "patchify_backward", "unpatchify"]


def guilty_patchify():
    """It joins as many patches to a strip as there are patch rows, not columns: a square image hides that."""
    return "strip by strip", np.random.default_rng(0).normal(size=(1, 4, 6, 1))


def overlapping_patches_backward(dy, shape, patch, stride):
    """The gradient of images of the given shape (B, H, W, C) if their patches may overlap."""
    B, H, W, C = shape
    rows, columns = (H - patch) // stride + 1, (W - patch) // stride + 1
    pieces = dy.reshape(B, rows, columns, patch, patch, C)
    dx = np.zeros(shape, dy.dtype)
    for p, q in np.ndindex(patch, patch):  # pixel (p, q) of all patches: these never overlap
        dx[:, p : p + rows * stride : stride, q : q + columns * stride : stride] += pieces[:, :, :, p, q]
    return dx
