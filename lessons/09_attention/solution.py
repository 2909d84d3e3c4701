"""Attention with one head, written out: the library has it for many heads at once."""

import math

import numpy as np

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


def guilty_attention():
    """It divides by the root of N instead of K: with as many tokens as numbers in a query nobody notices."""
    rng = np.random.default_rng(0)
    return "transposed from the start", tuple(rng.normal(size=(1, 5, 3)) for _ in range(3))


def lean_backward(dy, q, k, v, piece):
    """The same dq, dk, dv from q, k and v alone, a few queries at a time."""
    scale = 1 / math.sqrt(q.shape[-1])
    dq, dk, dv = np.empty_like(q), np.zeros_like(k), np.zeros_like(v)
    for start in range(0, q.shape[1], piece):
        asking = slice(start, start + piece)  # a query needs its own row of A, and all keys and values
        A, _ = softmax(q[:, asking] @ k.swapaxes(-1, -2) * scale)  # (B, piece, N)
        dS = softmax_backward(dy[:, asking] @ v.swapaxes(-1, -2), A) * scale  # (B, piece, N)
        dq[:, asking] = dS @ k
        dk += dS.swapaxes(-1, -2) @ q[:, asking]
        dv += A.swapaxes(-1, -2) @ dy[:, asking]
    return dq, dk, dv
