"""The softmax runs over the tokens that ask instead of those that are asked."""

import math

from tinyvit.ops import softmax, softmax_backward


def single_head(q, k, v):
    q = q * (1 / math.sqrt(q.shape[-1]))
    columns, cache = softmax(k @ q.swapaxes(-1, -2))
    A = columns.swapaxes(-1, -2)
    return A @ v, (q, k, v, A, cache)


def single_head_backward(dy, cache):
    q, k, v, A, softmax_cache = cache
    dS = softmax_backward((dy @ v.swapaxes(-1, -2)).swapaxes(-1, -2), softmax_cache).swapaxes(-1, -2)
    return dS @ k * (1 / math.sqrt(q.shape[-1])), dS.swapaxes(-1, -2) @ q, A.swapaxes(-1, -2) @ dy
