"""Lesson 24: pictures and words. Fill in the functions, then run: pytest lessons/24_pictures_and_words"""

import numpy as np  # noqa: F401 - you will want it


def direction_backward(dy, cache):
    """dx (B, E) of direction, from dy (B, E) and its cache: the unit vectors y (B, E), the lengths (B, 1)."""
    raise NotImplementedError("write direction_backward: which part of dy could only change the length?")


def softmax_pairs(images, texts, log_scale):
    """CLIP's loss of a batch of pairs, and its gradients: loss, (dimages, dtexts, dlog_scale).

    images (B, E) and texts (B, E) are unit vectors, row i of both a pair. log_scale is the logarithm of the
    number by which every cosine is multiplied.
    """
    raise NotImplementedError("write softmax_pairs: the scores, the two softmaxes, and three gradients")


def sigmoid_pairs(images, texts, log_scale, bias, same):
    """SigLIP's loss of all pairs, and its gradients: loss, (dimages, dtexts, dlog_scale, dbias).

    images (B, E), texts (B, E) and log_scale are as in softmax_pairs, and bias is a number added to every
    score. same (B, B), of True and False, says which text is right for which image: row image, column text.
    """
    raise NotImplementedError("write sigmoid_pairs: a question for each pair, and four gradients")


# The puzzle: how low can the loss go, if captions come twice?


def lowest_loss(captions):
    """The lowest loss that softmax_pairs can come to on a batch with these captions (B,), as a float.

    The towers may be as good as you like and the scale as large, but equal captions have equal vectors.
    """
    raise NotImplementedError("write lowest_loss: what is the best that a softmax can do about twins?")
