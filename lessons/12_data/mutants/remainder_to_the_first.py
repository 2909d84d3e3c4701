"""What rounding leaves over goes to the first classes, not to those that lost most."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.12_data.solution")
crop_and_flip = solution.crop_and_flip
drop_path = solution.drop_path
drop_path_backward = solution.drop_path_backward
guilty_drop_path = solution.guilty_drop_path


def hold_out(labels, count, seed):
    names, sizes = np.unique(labels, return_counts=True)
    shares = count * sizes // len(labels)
    shares[: count - shares.sum()] += 1
    rng, chosen = np.random.default_rng(seed), np.zeros(len(labels), dtype=bool)
    for name, share in zip(names, shares, strict=True):
        chosen[rng.permutation(np.flatnonzero(labels == name))[:share]] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)
