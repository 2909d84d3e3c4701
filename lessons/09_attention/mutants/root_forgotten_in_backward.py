"""The backward leaves out the division by the root of K."""

import math

from tinyvit.ops import softmax, softmax_backward


def single_head(q, k, v):
    A, softmax_cache = softmax(q @ k.swapaxes(-1, -2) * (1 / math.sqrt(q.shape[-1])))
    return A @ v, (q, k, v, A, softmax_cache)


def single_head_backward(dy, cache):
    q, k, v, A, softmax_cache = cache
    dS = softmax_backward(dy @ v.swapaxes(-1, -2), softmax_cache)
    return dS @ k, dS.swapaxes(-1, -2) @ q, A.swapaxes(-1, -2) @ dy
