"""The softmax is taken for an elementwise function with slope A (1 - A)."""

import math

from tinyvit.ops import softmax


def single_head(q, k, v):
    A, softmax_cache = softmax(q @ k.swapaxes(-1, -2) * (1 / math.sqrt(q.shape[-1])))
    return A @ v, (q, k, v, A, softmax_cache)


def single_head_backward(dy, cache):
    q, k, v, A, _ = cache
    dS = A * (1 - A) * (dy @ v.swapaxes(-1, -2)) * (1 / math.sqrt(q.shape[-1]))
    return dS @ k, dS.swapaxes(-1, -2) @ q, A.swapaxes(-1, -2) @ dy
