"""The library's own functions are the model answers; what it has no need of is written out here."""

import numpy as np

from tinyvit.gradcheck import check_gradients
from tinyvit.ops import (
    class_token,
    class_token_backward,
    patchify,
    patchify_backward,
    position_embedding_backward,
    unpatchify,
)

__all__ = ["class_token", "class_token_backward", "grid_positions_backward", "overlapping_patches_backward"]
__all__ += ["patchify", "patchify_backward", "position_embedding_backward", "trust_class_token", "unpatchify"]


def trust_class_token(forward, backward):
    """True if these two are a right class_token and class_token_backward, otherwise False."""
    rng = np.random.default_rng(0)
    x, token = rng.normal(size=(3, 4, 5)), rng.normal(size=5)  # several images, several patches
    y, _ = forward(x, token)
    expected = [[token, *image] for image in x]
    if not np.array_equal(y, expected):  # a gradient check never asks what the forward is
        return False
    return max(check_gradients(forward, backward, (x, token), rng)) < 1e-6


def overlapping_patches_backward(dy, shape, patch, stride):
    """The gradient of images of the given shape (B, H, W, C) if their patches may overlap."""
    B, H, W, C = shape
    rows, columns = (H - patch) // stride + 1, (W - patch) // stride + 1
    pieces = dy.reshape(B, rows, columns, patch, patch, C)
    dx = np.zeros(shape, dy.dtype)
    for p, q in np.ndindex(patch, patch):  # pixel (p, q) of all patches: these never overlap
        dx[:, p : p + rows * stride : stride, q : q + columns * stride : stride] += pieces[:, :, :, p, q]
    return dx


def grid_positions_backward(dy, rows, columns):
    """dx, drow_table (rows, D) and dcolumn_table (columns, D), from dy (B, 1 + rows * columns, D)."""
    B, _, D = dy.shape
    patches = dy[:, 1:].reshape(B, rows, columns, D)
    return dy, patches.sum(axis=(0, 2)), patches.sum(axis=(0, 1))
