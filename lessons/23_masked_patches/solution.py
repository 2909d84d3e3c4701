"""The model answer. take_seen, whose backward is asked for, is in mae.py."""

from math import comb

import numpy as np

from tinyvit.gradcheck import check_gradients


def take_seen_backward(dy, cache):
    """Every row goes back to where it was taken; a patch that was not taken has no effect."""
    seen, shape = cache
    dx = np.zeros(shape, dy.dtype)
    dx[np.arange(len(seen))[:, None], seen] = dy
    return dx


def put_back(y, mask_token, positions, seen):
    """Mask tokens everywhere, overwritten by the tokens that there are; then the positions."""
    z = np.empty((len(y), *positions.shape), y.dtype)
    z[...] = mask_token
    z[np.arange(len(y))[:, None], seen] = y
    return z + positions, seen


def put_back_backward(dz, cache):
    """The token y is in one place, the mask token in all hidden ones, a position in every picture."""
    rows = np.arange(len(dz))[:, None]
    hidden = np.ones(dz.shape[:2], bool)
    hidden[rows, cache] = False
    return dz[rows, cache], dz[hidden].sum(axis=0), dz.sum(axis=0)


def painting_loss(painted, patches, seen, eps):
    """The error is set to zero where the patch was in sight, and the rest is a mean squared error."""
    centred = patches - patches.mean(axis=2, keepdims=True)
    wanted = centred / np.sqrt((centred * centred).mean(axis=2, keepdims=True) + eps)
    error = painted - wanted
    error[np.arange(len(seen))[:, None], seen] = 0
    count = error.size - seen.size * error[0, 0].size
    return (error * error).sum() / count, error * (2 / count)


def trust_put_back(forward, backward):
    """Two pictures with other places in sight, not in reading order, and several that are hidden."""
    rng = np.random.default_rng(0)
    y, mask_token, positions = rng.normal(size=(2, 3, 4)), rng.normal(size=4), rng.normal(size=(6, 4))
    seen = np.array([[4, 0, 3], [1, 5, 0]])
    z, _ = forward(y, mask_token, positions, seen)
    expected = np.tile(mask_token + positions, (2, 1, 1))
    for b, i in np.ndindex(seen.shape):
        expected[b, seen[b, i]] = y[b, i] + positions[seen[b, i]]
    if not np.allclose(z, expected, rtol=0, atol=1e-12):  # a gradient check never asks what the forward is
        return False
    placed = lambda *arrays: forward(*arrays, seen)
    return max(check_gradients(placed, backward, (y, mask_token, positions), rng)) < 1e-6


def lonely(patches, seen, near):
    """The patches in sight are then chosen among those that are neither the hidden one nor its neighbours."""
    return comb(patches - 1 - near, seen) / comb(patches - 1, seen)
