"""Lesson 22: rotary positions. Fill in the functions, then run: pytest lessons/22_rotary"""

import numpy as np  # noqa: F401 - you will want it


def place_angles(grid, K, theta=100.0):
    """By which angles the points of each patch turn: (gh * gw, K/2), float64, for a grid (gh, gw).

    A head has K numbers, which are K/2 points. The first K/4 turn with the row, the others with the column.
    Rows, columns and patches count from 0; 4 divides K.
    """
    raise NotImplementedError("write place_angles: K/4 frequencies times the row, then times the column")


def turn_patches(x, angles):
    """Turn the last T of the N tokens in x (B, H, N, K) by angles (T, K/2); returns y and a cache.

    Point n is (x_n, x_{n + K/2}). Tokens before the last T do not turn. y has x's shape and dtype.
    """
    raise NotImplementedError("write turn_patches: equation 1 for the two halves of the last T tokens")


def turn_patches_backward(dy, cache):
    """The gradient of turn_patches: dx (B, H, N, K), from dy (B, H, N, K). The angles get none here."""
    raise NotImplementedError("write turn_patches_backward: the same rotation, but by which angles?")


# The puzzle: each head learns its own frequencies


def learned_scores(q, k, frequencies, grid):
    """Scores S (B, H, T, T) of turned queries and keys, and a cache. There are no tokens but the T patches.

    q and k are (B, H, T, K), and frequencies (2, H, K/2). In head h, point n of the patch in row r and column
    c turns by r * frequencies[0, h, n] + c * frequencies[1, h, n]. S is not divided by anything.
    """
    raise NotImplementedError("write learned_scores: angles for each head, then turned q times turned k")


def learned_scores_backward(dS, cache):
    """Gradients of learned_scores: dq and dk (B, H, T, K), and dfrequencies (2, H, K/2), typed as q."""
    raise NotImplementedError("write learned_scores_backward: how does a turned point move with its angle?")
