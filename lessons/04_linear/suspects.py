"""Three backwards for the linear layer. Two are right; one is right only most of the time."""

import numpy as np


def _forward(x, weight, bias):
    return x @ weight + bias, (x, weight)


def _ada(dy, cache):
    x, weight = cache
    leading = tuple(range(x.ndim - 1))
    dx = np.einsum("...o,io->...i", dy, weight)
    return dx, np.tensordot(x, dy, (leading, leading)), dy.T.sum(axis=tuple(range(1, dy.ndim)))


def _ben(dy, cache):
    x, weight = cache
    dx, dweight, dbias = np.zeros_like(x), np.zeros_like(weight), np.zeros(weight.shape[1])
    for row in np.ndindex(*dy.shape[:-1]):
        dx[row] += weight @ dy[row]
        dweight += dy[row] * x[row][:, None]
        dbias += dy[row]
    return dx, dweight, dbias


def _cleo(dy, cache):
    x, weight = cache
    rows, dy_rows = x.reshape(-1, x.shape[-1]), dy.reshape(-1, dy.shape[-1])
    dx = _product(dy_rows, weight)
    return dx.reshape(x.shape), _product(rows.T, dy_rows), np.ones(len(rows)) @ dy_rows


def _product(a, b):
    """The matrix product of a with b, or with the transpose of b where that is the one that fits."""
    return a @ b if a.shape[1] == b.shape[0] else a @ b.T


SUSPECTS = {"ada": (_forward, _ada), "ben": (_forward, _ben), "cleo": (_forward, _cleo)}
