"""Attention with one head, written out: the library has it for many heads at once."""

import math

from tinyvit.ops import softmax, softmax_backward


def single_head(q, k, v):
    """Each token's mix of all values: q, k, v (B, N, K) to y (B, N, K), and the cache."""
    q = q * (1 / math.sqrt(q.shape[-1]))  # (B, N, K)  scaled here: S has more numbers
    A, softmax_cache = softmax(q @ k.swapaxes(-1, -2))  # (B, N, N)  eq. 2, 3
    return A @ v, (q, k, v, A, softmax_cache)  # (B, N, K)  eq. 4


def single_head_backward(dy, cache):
    """Gradients of single_head: dq, dk, dv, each (B, N, K)."""
    q, k, v, A, softmax_cache = cache
    dA = dy @ v.swapaxes(-1, -2)  # (B, N, N)  eq. 7
    dv = A.swapaxes(-1, -2) @ dy  # (B, N, K)  eq. 7
    dS = softmax_backward(dA, softmax_cache)  # (B, N, N)  eq. 8
    dq = dS @ k * (1 / math.sqrt(q.shape[-1]))  # (B, N, K)  eq. 9
    dk = dS.swapaxes(-1, -2) @ q  # (B, N, K)  eq. 9: q is scaled already
    return dq, dk, dv
