"""The library's rotation is the model answer; what it asks a whole configuration for is written out here."""

import numpy as np

from tinyvit.ops.rotary import Turn, rotary, rotary_backward


def place_angles(grid, K, theta=100.0):
    """By which angles the points of each patch turn: rows first, (gh * gw, K/2)."""
    r, c = np.indices(grid).reshape(2, -1, 1)  # (T, 1) each
    f = theta ** (-4 * np.arange(K // 4) / K)
    return np.concatenate([r * f, c * f], axis=1)


def turn_patches(x, angles):
    """Turn the last T tokens; T is the number of rows of angles."""
    return rotary(x, Turn(np.cos(angles), np.sin(angles), pairs=False))


def turn_patches_backward(dy, cache):
    """The rotation back. The library's also returns the gradient of the angles."""
    return rotary_backward(dy, cache)[0]


def learned_scores(q, k, frequencies, grid):
    """Scores (B, H, T, T) of queries and keys turned by angles of each head, and the cache."""
    places = np.indices(grid).reshape(2, -1).astype(q.dtype)  # (2, T)
    angles = np.einsum("pt,phn->htn", places, frequencies)  # (H, T, K/2)
    (y, turned_q), (z, turned_k) = turn_patches(q, angles), turn_patches(k, angles)
    return y @ z.swapaxes(-1, -2), (y, z, turned_q, turned_k, places)


def learned_scores_backward(dS, cache):
    """Queries and keys turn by the same angles, so the gradients of the angles add up."""
    y, z, turned_q, turned_k, places = cache
    dq, dangles = rotary_backward(dS @ z, turned_q)
    dk, from_keys = rotary_backward(dS.swapaxes(-1, -2) @ y, turned_k)
    return dq, dk, np.einsum("pt,htn->phn", places, dangles + from_keys)
