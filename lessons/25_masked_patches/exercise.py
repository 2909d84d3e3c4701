"""Lesson 25: masked patches. Fill in the functions, then run: pytest lessons/25_masked_patches"""

import numpy as np  # noqa: F401 - you will want it

MASKED = -1  # in source: this position shows no patch, but the mask token


def colour_classes(means):
    """The classes (...), int64, of colours (..., 3): three numbers from 0 to 255, red, green, blue."""
    raise NotImplementedError("write colour_classes: 3 bits of each channel, and red counts most")


def corrupt(x, mask_token, source):
    """Patch embeddings x (B, T, D) as source (B, T) says; return y (B, T, D) and a cache.

    Position t of image b shows patch source[b, t] of the same image, or mask_token (D,) if that is MASKED.
    """
    raise NotImplementedError("write corrupt: equation (corruption 1), for every position of every image")


def corrupt_backward(dy, cache):
    """dx (B, T, D) and dmask_token (D,) from dy (B, T, D)."""
    raise NotImplementedError("write corrupt_backward: where was each patch shown, and where the mask token?")


def masked_loss(logits, colours, chosen):
    """The mean cross-entropy of the chosen patches, and its gradient with respect to all logits.

    logits (B, T, C) are what a model says of every patch, colours (B, T) the right classes, and chosen (B, n)
    the corrupted patches of each image, no patch twice. Returns loss, a number, and dlogits (B, T, C).
    """
    raise NotImplementedError("write masked_loss: cross-entropy where a patch was chosen, nothing elsewhere")


def trust_corrupt(forward, backward):
    """Whether these two are a right corrupt and corrupt_backward: True or False.

    forward(x, mask_token, source) returns (y, cache) and backward(dy, cache) returns (dx, dmask_token), in
    the right shapes.
    """
    raise NotImplementedError("write trust_corrupt: choose a source in which nothing can hide, and check")


# The puzzle: how low can the loss of a model go that is told so much, and no more?


def best_loss(colours, seen):
    """The lowest mean cross-entropy on these patches that a model can reach, as a float.

    colours (n,) are the right classes of n patches. Of patch i, the model is told nothing but the whole
    number seen[i] (n,), and it may answer each number with any probabilities.
    """
    raise NotImplementedError("write best_loss: with which probabilities should each number be answered?")
