"""normalise is the library's; the linear classifier is written out here: tinyvit goes on to better ones."""

import numpy as np

from tinyvit.data import normalise

__all__ = ["class_scores", "fit_linear", "normalise"]


def class_scores(images, weight, bias):
    """Scores (n, C) of normalised images (n, H, W, 3), with weight (H*W*3, C) and bias (C,)."""
    return images.reshape(len(images), -1) @ weight + bias  # eq. 2


def fit_linear(x, labels, classes, penalty):
    """Weight (D, C) and bias (C,) that solve the least squares problem for rows x (n, D) and labels (n,)."""
    targets = (labels[:, None] == np.arange(classes)).astype(x.dtype)  # (n, C)  one-hot
    x_mean, t_mean = x.mean(axis=0), targets.mean(axis=0)  # (D,), (C,)
    centred = x - x_mean  # (n, D)
    products = centred @ centred.T  # (n, n)
    products[np.diag_indices(len(x))] += penalty
    shares = np.linalg.solve(products, targets - t_mean)  # (n, C)  eq. 7
    weight = centred.T @ shares  # (D, C)  eq. 6
    return weight, t_mean - x_mean @ weight  # eq. 4
