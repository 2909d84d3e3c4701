"""Lesson 1: pixels. Fill in the three functions, then run: pytest lessons/01_pixels"""

import numpy as np  # noqa: F401 - you will want it


def normalise(images, dtype):
    """Bytes 0..255 to numbers from -1 to 1, in the given dtype; images and result (n, H, W, 3)."""
    raise NotImplementedError("write normalise: equation 1, after the step from bytes to the given dtype")


def class_scores(images, weight, bias):
    """Scores (n, C) of normalised images (n, H, W, 3), with weight (H*W*3, C) and bias (C,)."""
    raise NotImplementedError("write class_scores: each image as one row, then equation 2")


def fit_linear(x, labels, classes, penalty):
    """Weight (D, C) and bias (C,) with the smallest E of equation 3, in the dtype of x.

    x: n images as rows (n, D). labels: n numbers below classes. penalty: lambda, one number.
    """
    raise NotImplementedError("write fit_linear: one-hot targets, centre both, then equations 7, 6 and 4")
