"""Backwards for LayerNorm that are right on some inputs only. A good check distrusts all of them."""

import numpy as np


def forward(x, weight, bias, eps=1e-6):
    """LayerNorm, with everything in the cache that a backward could want."""
    centred = x - x.mean(axis=-1, keepdims=True)
    r = 1 / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    return centred * r * weight + bias, (x, centred * r, r, weight, bias)


def right(dy, cache):
    """The closed form."""
    _, n, r, weight, _ = cache
    return _dx(dy * weight, n, r), _rows(dy * n), _rows(dy)


def one_row(dy, cache):
    """The r of the last row serves all rows."""
    _, n, r, weight, _ = cache
    return _dx(dy * weight, n, r.reshape(-1)[-1]), _rows(dy * n), _rows(dy)


def unit_gain(dy, cache):
    """The mean that is subtracted is that of dy, not of dy times the gain."""
    _, n, r, weight, _ = cache
    g = dy * weight
    dx = r * (g - dy.mean(axis=-1, keepdims=True) - n * (g * n).mean(axis=-1, keepdims=True))
    return dx, _rows(dy * n), _rows(dy)


def gain_from_y(dy, cache):
    """The gradient of the gain is taken with what the gain has multiplied already."""
    _, n, r, weight, _ = cache
    return _dx(dy * weight, n, r), _rows(dy * n * weight), _rows(dy)


def centred_already(dy, cache):
    """The shadow along n is measured with a row whose mean was not subtracted."""
    x, n, r, weight, _ = cache
    g = dy * weight
    dx = r * (g - g.mean(axis=-1, keepdims=True) - n * (g * x * r).mean(axis=-1, keepdims=True))
    return dx, _rows(dy * n), _rows(dy)


def default_eps(dy, cache):
    """r is computed once more, with the eps that is the default."""
    x, n, _, weight, _ = cache
    r = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-6)
    return _dx(dy * weight, n, r), _rows(dy * n), _rows(dy)


def two_axes(dy, cache):
    """The offset's gradient is summed over the first axis, and averaged over those between."""
    _, n, r, weight, _ = cache
    dbias = dy.sum(axis=0).reshape(-1, dy.shape[-1]).mean(axis=0) if dy.ndim > 1 else dy
    return _dx(dy * weight, n, r), _rows(dy * n), dbias


def three_axes(dy, cache):
    """With more than three axes, the rows behind the first index of the first axis are left out."""
    _, n, r, weight, _ = cache
    products = dy * n
    return _dx(dy * weight, n, r), _rows(products[0] if products.ndim > 3 else products), _rows(dy)


def _dx(g, n, r):
    return r * (g - g.mean(axis=-1, keepdims=True) - n * (g * n).mean(axis=-1, keepdims=True))


def _rows(array):
    return array.reshape(-1, array.shape[-1]).sum(axis=0)


RIGHT = (forward, right)
WRONG = {
    "it is right for a single row only": (forward, one_row),
    "it is right for gains of 1 only": (forward, unit_gain),
    "its gradient of the gain is right for gains of 1 only": (forward, gain_from_y),
    "it is right for rows of mean 0 only": (forward, centred_already),
    "it is right for the default eps only": (forward, default_eps),
    "its gradient of the offset is right for two axes only": (forward, two_axes),
    "its gradient of the gain is wrong with more than three axes": (forward, three_axes),
}
