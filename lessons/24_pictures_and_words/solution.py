"""The losses of CLIP and SigLIP with all their gradients: the library only uses trained towers."""

from collections import Counter

import numpy as np

from tinyvit.ops import cross_entropy, cross_entropy_backward


def direction_backward(dy, cache):
    """dx (B, E): dy without its part along y, which could only change the length."""
    y, length = cache
    return (dy - y * (dy * y).sum(axis=-1, keepdims=True)) / length  # eq. 2


def softmax_pairs(images, texts, log_scale):
    """Each image chooses among the texts, and each text among the images."""
    scale, right = np.exp(log_scale), np.arange(len(images))
    S = scale * (images @ texts.T)  # (B, B)  eq. 3
    of_images, rows = cross_entropy(S, right)
    of_texts, columns = cross_entropy(S.T, right)
    loss = (of_images + of_texts) / 2  # eq. 4
    dS = (cross_entropy_backward(rows) + cross_entropy_backward(columns).T) / 2  # (B, B)  eq. 5
    return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * S).sum())  # eq. 6, 7, 8


def sigmoid_pairs(images, texts, log_scale, bias, same):
    """Each pair is a question of its own: do they belong together?"""
    B, scale = len(images), np.exp(log_scale)
    cosines = scale * (images @ texts.T)  # (B, B)
    S = cosines + bias  # eq. 9
    loss = np.logaddexp(0, np.where(same, -S, S)).sum() / B  # eq. 10
    dS = ((1 + np.tanh(S / 2)) / 2 - same) / B  # (B, B)  eq. 11: a sigmoid that does not overflow
    return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * cosines).sum(), dS.sum())  # eq. 12


def lowest_loss(captions):
    """Of n equal captions, none can have more than an n-th of the probability on average."""
    twins = Counter(captions)
    return float(np.mean([np.log(twins[caption]) for caption in captions]))
