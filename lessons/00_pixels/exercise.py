"""Lesson 0: pixels. Fill in the functions, then run: pytest lessons/00_pixels"""

import numpy as np  # noqa: F401 - you will want it


def normalise(images, dtype):
    """Bytes 0..255 to numbers from -1 to 1, in the given dtype; images and result (n, H, W, 3).

    dtype is anything that astype takes: np.float32, "float32" or np.dtype("float32").
    """
    raise NotImplementedError("write normalise: equation 1, after the step from bytes to the given dtype")


def class_scores(images, weight, bias):
    """Scores (n, C) of normalised images (n, H, W, 3), with weight (H*W*3, C) and bias (C,)."""
    raise NotImplementedError("write class_scores: each image as one row, then equation 2")


def mean_templates(x, labels, classes):
    """The weight (D, C) and bias (C,) whose highest score is the nearest class mean, in the dtype of x.

    x: n images as rows (n, D). labels: n whole numbers below classes, each of which occurs at least once.
    """
    raise NotImplementedError("write mean_templates: the mean of each class, then the bias you derived")


# The puzzle


def read_templates(scores, shape):
    """The weight (H*W*3, C) and bias (C,) inside scores, found out by asking.

    scores takes float64 images (n, H, W, 3) and returns (n, C): it is some linear classifier, as in
    class_scores. shape is (H, W, 3). Show it at most H*W*3 + 1 images, in as many calls as you like.
    """
    raise NotImplementedError("write read_templates: which images make the numbers inside visible?")
