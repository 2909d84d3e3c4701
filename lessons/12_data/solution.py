"""Cropping and stochastic depth are the library's own; the split is written out for an array of labels."""

import numpy as np

from tinyvit.data import crop_and_flip
from tinyvit.ops import drop_path, drop_path_backward

__all__ = ["crop_and_flip", "drop_path", "drop_path_backward", "guilty_drop_path", "hold_out"]


def guilty_drop_path():
    """The first 30 images have the same luck in the first draw and in the second: it takes 31 to tell."""
    return "remembers the noise", np.random.default_rng(0).normal(size=(60, 2, 3))


def hold_out(labels, count, seed):
    """Indices (train, held_out): count images held out, in proportion from every class, by the seed."""
    names, sizes = np.unique(labels, return_counts=True)
    shares, lost = np.divmod(count * sizes, len(labels))  # rounded down, and what that cost each class
    shares[np.argsort(-lost)[: count - shares.sum()]] += 1
    rng, chosen = np.random.default_rng(seed), np.zeros(len(labels), dtype=bool)
    for name, share in zip(names, shares, strict=True):
        chosen[rng.permutation(np.flatnonzero(labels == name))[:share]] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)
