"""Backwards for GroupNorm that are right on some inputs only. A good check distrusts all of them."""

import numpy as np


def forward(x, weight, bias, groups=32, eps=1e-6):
    """GroupNorm with five axes (B, H, W, G, C/G), and everything in the cache that a backward could want."""
    split = x.reshape(*x.shape[:3], groups, -1)
    centred = split - split.mean(axis=(1, 2, 4), keepdims=True)
    r = 1 / np.sqrt((centred**2).mean(axis=(1, 2, 4), keepdims=True) + eps)
    n = (centred * r).reshape(x.shape)
    return n * weight + bias, (x, n, r, weight, groups)


def right(dy, cache):
    """The closed form."""
    _, n, r, weight, groups = cache
    return _dx(dy * weight, n, r, groups), _images(dy * n), _images(dy)


def one_image(dy, cache):
    """The r of the last image serves all images."""
    _, n, r, weight, groups = cache
    return _dx(dy * weight, n, r[-1:], groups), _images(dy * n), _images(dy)


def exchanged(dy, cache):
    """Takes the number of groups for the number of channels in a group, in what is subtracted."""
    _, n, r, weight, groups = cache
    g, other = dy * weight, dy.shape[-1] // groups
    rest = g - _means(g, other) - n * _means(g * n, other)
    return _times_r(rest, r, groups), _images(dy * n), _images(dy)


def interleaved(dy, cache):
    """With G groups, takes every G-th channel for a group, instead of neighbours."""
    _, n, r, weight, groups = cache
    g, C = dy * weight, dy.shape[-1]
    order = np.arange(C).reshape(-1, groups).T.ravel()
    back = np.argsort(order)
    rest = g - _means(g[..., order], groups)[..., back]
    rest -= n * _means((g * n)[..., order], groups)[..., back]
    return _times_r(rest, r, groups), _images(dy * n), _images(dy)


def equal_gains(dy, cache):
    """Takes the mean of dy first and multiplies by the gain of each channel afterwards."""
    _, n, r, weight, groups = cache
    rest = dy * weight - weight * _means(dy, groups) - n * _means(dy * weight * n, groups)
    return _times_r(rest, r, groups), _images(dy * n), _images(dy)


def averaged_images(dy, cache):
    """The gradient of the gain is averaged over the images."""
    _, n, r, weight, groups = cache
    return _dx(dy * weight, n, r, groups), _images(dy * n) / len(dy), _images(dy)


def one_row(dy, cache):
    """The gradient of the offset is summed over the columns, and averaged over the rows of pixels."""
    _, n, r, weight, groups = cache
    return _dx(dy * weight, n, r, groups), _images(dy * n), dy.sum(axis=(0, 2)).mean(axis=0)


def default_eps(dy, cache):
    """r is computed once more, with the eps that is the default."""
    x, n, _, weight, groups = cache
    variance = x.reshape(*x.shape[:3], groups, -1).var(axis=(1, 2, 4), keepdims=True)
    return _dx(dy * weight, n, 1 / np.sqrt(variance + 1e-6), groups), _images(dy * n), _images(dy)


def _dx(g, n, r, groups):
    return _times_r(g - _means(g, groups) - n * _means(g * n, groups), r, groups)


def _means(array, groups):
    split = array.reshape(*array.shape[:3], groups, -1)
    means = split.mean(axis=(1, 2, 4), keepdims=True)
    return np.broadcast_to(means, split.shape).reshape(array.shape)


def _times_r(array, r, groups):
    return (array.reshape(*array.shape[:3], groups, -1) * r).reshape(array.shape)


def _images(array):
    return array.sum(axis=(0, 1, 2))


RIGHT = (forward, right)
WRONG = {
    wrong.__name__: (forward, wrong)
    for wrong in (one_image, exchanged, interleaved, equal_gains, averaged_images, one_row, default_eps)
}
