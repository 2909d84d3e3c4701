"""Group normalisation (Wu and He 2018), forward and backward: the normalisation of hybrids and ResNets.

The C channels of an image are split into G groups of C/G neighbours. All numbers of a group, over the whole
image, are shifted to mean 0 and scaled to variance 1 together. Then each channel gets a learned gain and
offset:

    n = (x - mean(x)) r        r = 1 / sqrt(var(x) + eps)        for each image and group  (1)
    y = n * weight + bias                                                                  (2)

Other images play no part, unlike in batch normalisation: the result is the same for any batch, in training or
not. With one group this is a LayerNorm over the whole image.

Backward. g = dy * weight is the gradient that reaches n. The derivation is that of layer_norm.py, for rows
that consist of the m numbers of a group:

    dx = r (g - mean(g) - n mean(g n))                                                     (3)

Both means follow from sums that the other gradients need anyway. For each image and channel, over its S
positions,

    s = sum over positions of dy            t = sum over positions of dy * n               (4)
    mean(g) = 1/m sum over channels of weight * s        (of a group; likewise for g n, t) (5)
    dweight = sum over images of t          dbias = sum over images of s                   (6)
"""

import numpy as np

from tinyvit.backend import Array, array_module


def group_norm(
    x: Array, weight: Array, bias: Array, groups: int = 32, eps: float = 1e-6
) -> tuple[Array, tuple]:
    """Normalise groups of channels over each image. x (B, H, W, C), weight and bias (C,).

    Returns y (B, H, W, C) and the cache. Raises ValueError if the channels cannot be split evenly.
    """
    B, C = len(x), x.shape[-1]
    if C % groups:
        raise ValueError(f"{C} channels cannot be split into {groups} groups of equal size")
    flat = x.reshape(B, -1, C)  # (B, S, C)
    S = flat.shape[1]
    n = flat - _group_means(_channel_sums(flat) / S, groups)
    variance = _group_means(_channel_sums(n * n) / S, groups)  # (B, 1, C)
    r = 1 / array_module(x).sqrt(variance + eps)
    n *= r  # (B, S, C)                                                                      eq. 1
    y = n * weight
    y += bias  #                                                                             eq. 2
    return y.reshape(x.shape), (n, r, weight, groups)


def group_norm_backward(dy: Array, cache: tuple) -> tuple[Array, Array, Array]:
    """Gradients of group_norm: dx (B, H, W, C), dweight (C,), dbias (C,)."""
    n, r, weight, groups = cache
    flat = dy.reshape(n.shape)  # (B, S, C)
    S = n.shape[1]
    s, t = _channel_sums(flat), _channel_sums(flat * n)  # (B, 1, C)                         eq. 4
    mean_g, mean_gn = _group_means(weight * s / S, groups), _group_means(weight * t / S, groups)  # eq. 5
    dx = flat * weight
    dx -= mean_g
    dx -= n * mean_gn
    dx *= r  # (B, S, C)                                                                     eq. 3
    return dx.reshape(dy.shape), t.sum(axis=(0, 1)), s.sum(axis=(0, 1))  #                   eq. 6


def _channel_sums(x: Array) -> Array:
    """Sums over the positions of each image, x (B, S, C) to (B, 1, C); on a CPU, a product: see row_means."""
    xp = array_module(x)
    return xp.ones((1, x.shape[1]), dtype=x.dtype) @ x if xp is np else x.sum(axis=1, keepdims=True)


def _group_means(x: Array, groups: int) -> Array:
    """Each channel's number replaced by the mean of its group: (B, 1, C) to (B, 1, C)."""
    B, _, C = x.shape
    means = x.reshape(B, groups, C // groups).mean(axis=2)  # (B, G)
    return means.repeat(C // groups, axis=1).reshape(B, 1, C)
