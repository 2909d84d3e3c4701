"""The maximum of the first piece is taken off all later ones."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.01_softmax_cross_entropy.solution")
softmax_backward = solution.softmax_backward
cross_entropy = solution.cross_entropy
cross_entropy_backward = solution.cross_entropy_backward
guilty_cross_entropy = solution.guilty_cross_entropy


def log_sum_exp_in_pieces(pieces):
    highest, total = None, 0.0
    for piece in pieces:
        highest = piece.max(axis=1) if highest is None else highest
        total = total + np.exp(piece - highest[:, None]).sum(axis=1)
    return highest + np.log(total)
