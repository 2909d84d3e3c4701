"""The first images of every class are held out, whatever the seed."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.12_data.solution")
crop_and_flip = solution.crop_and_flip
drop_path = solution.drop_path
drop_path_backward = solution.drop_path_backward
guilty_drop_path = solution.guilty_drop_path


def hold_out(labels, count, seed):
    held_out = [
        np.flatnonzero(labels == name)[: (labels[solution.hold_out(labels, count, seed)[1]] == name).sum()]
        for name in np.unique(labels)
    ]
    held_out = np.sort(np.concatenate(held_out))
    return np.setdiff1d(np.arange(len(labels)), held_out), held_out
