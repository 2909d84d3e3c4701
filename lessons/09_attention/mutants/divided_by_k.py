"""The scores are divided by K instead of its root, forward and backward."""

from tinyvit.ops import softmax, softmax_backward


def single_head(q, k, v):
    q = q * (1 / q.shape[-1])
    A, softmax_cache = softmax(q @ k.swapaxes(-1, -2))
    return A @ v, (q, k, v, A, softmax_cache)


def single_head_backward(dy, cache):
    q, k, v, A, softmax_cache = cache
    dS = softmax_backward(dy @ v.swapaxes(-1, -2), softmax_cache)
    return dS @ k * (1 / q.shape[-1]), dS.swapaxes(-1, -2) @ q, A.swapaxes(-1, -2) @ dy
