"""Every class gives as many images, however large it is."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.12_data.solution")
crop_and_flip = solution.crop_and_flip
drop_path = solution.drop_path
drop_path_backward = solution.drop_path_backward
guilty_drop_path = solution.guilty_drop_path


def hold_out(labels, count, seed):
    order = np.random.default_rng(seed).permutation(len(labels))
    rank = np.array([(labels[order[:i]] == labels[j]).sum() for i, j in enumerate(order)])
    order = order[np.argsort(rank, kind="stable")]
    return np.sort(order[count:]), np.sort(order[:count])
