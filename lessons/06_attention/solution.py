"""Attention of one head is written out, that of many is the library's own; so are the two puzzles."""

import math

import numpy as np

from tinyvit.gradcheck import check_gradients
from tinyvit.ops import attention, attention_backward, softmax, softmax_backward

__all__ = ["attention", "attention_backward", "grouped_heads_backward", "lean_backward", "single_head"]
__all__ += ["single_head_backward", "split_heads", "trust_multi_head"]


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


def split_heads(qkv, heads):
    """From (B, N, 3D), columns ordered (q k v, head, K), to q, k and v, each (B, H, N, K)."""
    B, N, columns = qkv.shape
    return tuple(qkv.reshape(B, N, 3, heads, columns // (3 * heads)).transpose(2, 0, 3, 1, 4))


def trust_multi_head(forward, backward):
    """True if these two are a right attention and attention_backward, otherwise False."""
    rng = np.random.default_rng(0)
    for B, N, D, heads in ((2, 5, 6, 3), (3, 2, 8, 2)):
        shapes = (B, N, D), (D, 3 * D), (3 * D,), (D, D), (D,)
        inputs = [rng.normal(size=shape) for shape in shapes]
        if not np.allclose(forward(*inputs, heads)[0], _head_by_head(*inputs, heads), rtol=0, atol=1e-9):
            return False
        errors = check_gradients(lambda *arrays, h=heads: forward(*arrays, h), backward, inputs, rng)
        if max(errors) > 1e-6:
            return False
    return True


def _head_by_head(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    D = x.shape[-1]
    K = D // heads
    qkv, joined = x @ qkv_weight + qkv_bias, np.empty_like(x)
    for start in range(0, D, K):
        q, k, v = (qkv[..., s * D + start : s * D + start + K] for s in range(3))
        joined[..., start : start + K] = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(K))[0] @ v
    return joined @ out_weight + out_bias


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


def grouped_heads_backward(dy, q, k, v):
    """dq, dk, dv for H heads that share G keys and values: every head of a group adds to them."""
    B, H, N, K = q.shape
    G = k.shape[1]
    q, dy = (array.reshape(B, G, H // G, N, K) for array in (q, dy))
    keys, values = k[:, :, None], v[:, :, None]  # (B, G, 1, N, K): broadcast over the heads of a group
    scale = 1 / math.sqrt(K)
    A, cache = softmax(q @ keys.swapaxes(-1, -2) * scale)  # (B, G, H/G, N, N)
    dS = softmax_backward(dy @ values.swapaxes(-1, -2), cache) * scale
    dq = (dS @ keys).reshape(B, H, N, K)
    dk = (dS.swapaxes(-1, -2) @ q).sum(axis=2)
    dv = (A.swapaxes(-1, -2) @ dy).sum(axis=2)
    return dq, dk, dv
