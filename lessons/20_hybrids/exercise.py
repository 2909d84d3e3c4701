"""Lesson 20: hybrids. Fill in the functions, then run: pytest lessons/20_hybrids"""

import numpy as np  # noqa: F401 - you will want it


def group_norm_backward(dy, cache):
    """dx (B, H, W, C), dweight (C,), dbias (C,) from dy (B, H, W, C).

    The forward is tinyvit.ops.group_norm, and its cache is n, r, weight, groups: with S = H W positions,
    n (B, S, C) has the normalised numbers, r (B, 1, C) the factor of each channel's group, weight is (C,).
    """
    raise NotImplementedError("write group_norm_backward: lesson 7, where a row is a group of channels")


def weight_standardisation(w, eps=1e-5):
    """A kernel w (k, k, I, O) with mean 0 and standard deviation 1 in each of its O output channels.

    Return y (k, k, I, O) and a cache.
    """
    raise NotImplementedError("write weight_standardisation: weight standardisation 1 and 2")


def weight_standardisation_backward(dy, cache):
    """dw (k, k, I, O) from dy (k, k, I, O)."""
    raise NotImplementedError("write weight_standardisation_backward: three paths, as in lesson 7")


# The puzzle: how far does a ResNet see?


def pixels_seen(resnet):
    """The side of the square of pixels that the windows behind one position of the feature map cover.

    resnet is a tuple like that of ViTConfig: the number of units in each stage; () is a root alone. The image
    is large enough for all the windows.
    """
    raise NotImplementedError("write pixels_seen: through the pool and the convolutions, back to the image")
