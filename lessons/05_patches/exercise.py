"""Lesson 5: patches and positions. Fill in the functions, then run: pytest lessons/05_patches"""

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
    raise NotImplementedError("write patchify_backward: carry every gradient back to its pixel")


def class_token(x, token):
    """Put token (D,) before the tokens x (B, T, D) of every image; return y (B, T + 1, D) and a cache."""
    raise NotImplementedError("write class_token: row 0 of every image is the token's, and x follows")


def class_token_backward(dy, cache):
    """dx (B, T, D) and dtoken (D,) from dy (B, T + 1, D)."""
    raise NotImplementedError("write class_token_backward: which rows of dy belong to whom, and how often?")


def position_embedding_backward(dy, cache):
    """dx (B, N, D) and dembedding (N, D) of y = x + embedding, from dy (B, N, D). The cache is None."""
    raise NotImplementedError("write position_embedding_backward: x by itself, the table by (embedding 4)")


def trust_class_token(forward, backward):
    """True if these two are a right class_token and class_token_backward, otherwise False.

    forward(x, token) returns (y, cache) and backward(dy, cache) returns (dx, dtoken), in the right shapes.
    """
    raise NotImplementedError("write trust_class_token: choose inputs, check the values and the gradients")


# The puzzles


def overlapping_patches_backward(dy, shape, patch, stride):
    """The gradient of images of the given shape (B, H, W, C) if their patches may overlap.

    Patch row r and column c start at pixel (r * stride, c * stride), for every r and c for which the patch
    lies within the image. Patches are in reading order, and so are the numbers in each:
    dy is (B, rows * columns, P*P*C).
    """
    raise NotImplementedError("write overlapping_patches_backward: how often was each pixel used?")


def grid_positions_backward(dy, rows, columns):
    """dx, drow_table (rows, D) and dcolumn_table (columns, D), from dy (B, 1 + rows * columns, D).

    The forward adds row_table[r] + column_table[c] to the patch in patch row r and patch column c. Patches
    are in reading order. The class token stands before them, and nothing is added to it.
    """
    raise NotImplementedError("write grid_positions_backward: who is shared by whom?")
