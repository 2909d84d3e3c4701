"""Three backwards for the exact form of GELU. Two are right; one is right nearly always."""

import math

import numpy as np

from tinyvit.ops import erf


def _forward(x):
    y = x * _share(x)
    return y, (x, y)


def _share(x):
    return (1 + erf(x / math.sqrt(2))) / 2


def _density(x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _dora(dy, cache):
    x, _ = cache
    left = -np.abs(x)
    slope = _share(left) + left * _density(left)
    return dy * np.where(x < 0, slope, 1 - slope)


def _emil(dy, cache):
    x, y = cache
    share = np.divide(y, x, out=np.zeros_like(y), where=x != 0)
    return dy * (share + x * _density(x))


def _fay(dy, cache):
    x, _ = cache
    near = x.clip(-9, 9)
    return dy * (_share(near) + near * _density(near))


SUSPECTS = {"dora": (_forward, _dora), "emil": (_forward, _emil), "fay": (_forward, _fay)}
