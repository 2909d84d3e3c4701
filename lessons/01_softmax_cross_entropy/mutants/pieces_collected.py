"""All pieces are collected first, though each is written over the one before."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy = solution.cross_entropy
cross_entropy_backward = solution.cross_entropy_backward
guilty_cross_entropy = solution.guilty_cross_entropy


def log_sum_exp_in_pieces(pieces):
    x = np.concatenate(list(pieces), axis=1)
    highest = x.max(axis=1, keepdims=True)
    return highest[:, 0] + np.log(np.exp(x - highest).sum(axis=1))
