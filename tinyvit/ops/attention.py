"""Multi-head self-attention (Vaswani et al. 2017; ViT appendix A), forward and backward.

Every token sends out a question (its query), advertises what it can answer (its key), and carries the answer
(its value). For each image and each of H heads of width K = D / H, with tokens x (N, D):

    q = x Wq + bq      k = x Wk + bk      v = x Wv + bv          (N, K)                    (1)
    S = q k^T / sqrt(K)                                          (N, N)                    (2)
    A = softmax of each row of S                                 (N, N)                    (3)
    o = A v                                                      (N, K)                    (4)
    y = [o of head 1, ..., o of head H] Wo + bo                  (N, D)                    (5)

The q, k and v of all heads come from a single product with one matrix (D, 3D), whose columns are ordered (q k
v, head, K). Every head reads the whole token, not a slice of it; only (5) mixes the heads.

Backward: the same five lines in reverse order. Each product C = A B gives dA = dC B^T and dB = A^T dC.

    do = dy Wo^T, split into heads       (and dWo, dbo as in linear)                       (6)
    dA = do v^T        dv = A^T do                                                         (7)
    dS = A * (dA - row sums of dA * A)             as in softmax                           (8)
    dq = dS k / sqrt(K)        dk = dS^T q / sqrt(K)                                       (9)
    dx = [dq dk dv] [Wq Wk Wv]^T         (and dW, db as in linear)                        (10)

The gradient of bk is exactly zero: it adds the same q bk^T to a whole row of S, and softmax ignores a
constant.
"""

import math

from tinyvit.backend import Array, array_module
from tinyvit.ops.linear import linear, linear_backward
from tinyvit.ops.softmax import softmax, softmax_backward


def attention(
    x: Array, qkv_weight: Array, qkv_bias: Array, out_weight: Array, out_bias: Array, heads: int
) -> tuple[Array, tuple]:
    """Self-attention among the N tokens of each image: x (B, N, D) to y (B, N, D), and the cache.

    qkv_weight (D, 3D), qkv_bias (3D,), out_weight (D, D), out_bias (D,); heads must divide D.
    """
    qkv, qkv_cache = linear(x, qkv_weight, qkv_bias)  # (B, N, 3D)                           eq. 1
    q, k, v = split_heads(qkv, 3, heads)  # (B, H, N, K) each
    o, attended = attend(q, k, v)  # (B, H, N, K)                                            eq. 2-4
    y, out_cache = linear(join_heads(o), out_weight, out_bias)  # (B, N, D)                  eq. 5
    return y, (qkv_cache, attended, out_cache)


def attention_backward(dy: Array, cache: tuple) -> tuple[Array, ...]:
    """Gradients of attention: dx (B, N, D), dqkv_weight, dqkv_bias, dout_weight, dout_bias."""
    qkv_cache, attended, out_cache = cache
    do, dout_weight, dout_bias = linear_backward(dy, out_cache)  # (B, N, D)                 eq. 6
    _, H, N, K = attended[1].shape  # of k
    (do,) = split_heads(do, 1, H)  # (B, H, N, K)
    dqkv = array_module(dy).empty((len(dy), N, 3 * H * K), dtype=dy.dtype)
    dq, dk, dv = split_heads(dqkv, 3, H)  # views: writing to them fills dqkv
    dq[...], dk[...], dv[...] = attend_backward(do, attended)  #                             eq. 7-9
    dx, dqkv_weight, dqkv_bias = linear_backward(dqkv, qkv_cache)  # (B, N, D)               eq. 10
    return dx, dqkv_weight, dqkv_bias, dout_weight, dout_bias


def attend(q: Array, k: Array, v: Array) -> tuple[Array, tuple]:
    """A mixture of the values for each query: q (B, H, Q, K), k and v (B, H, N, K) to o (B, H, Q, K)."""
    q = q * (1 / math.sqrt(q.shape[-1]))  # cheaper than scaling S
    A, _ = softmax(q @ k.transpose(0, 1, 3, 2))  # (B, H, Q, N)                              eq. 2, 3
    return A @ v, (q, k, v, A)  #                                                            eq. 4


def attend_backward(do: Array, cache: tuple) -> tuple[Array, Array, Array]:
    """Gradients of attend: dq (B, H, Q, K), dk and dv (B, H, N, K)."""
    q, k, v, A = cache
    dA, dv = do @ v.transpose(0, 1, 3, 2), A.transpose(0, 1, 3, 2) @ do  #                   eq. 7
    dS = softmax_backward(dA, A)  # (B, H, Q, N)                                             eq. 8
    dq, dk = dS @ k * (1 / math.sqrt(k.shape[-1])), dS.transpose(0, 1, 3, 2) @ q  # q is scaled   eq. 9
    return dq, dk, dv


def attention_probabilities(cache: tuple) -> Array:
    """A (B, H, N, N) from the cache of attention: how much one token (axis 2) draws from another (axis 3)."""
    return cache[1][3]


def split_heads(x: Array, parts: int, heads: int) -> Array:
    """x (B, N, parts D), columns ordered (part, head, K), as `parts` views (B, H, N, K) in one array."""
    B, N, _ = x.shape
    return x.reshape(B, N, parts, heads, -1).transpose(2, 0, 3, 1, 4)


def join_heads(o: Array) -> Array:
    """o (B, H, N, K) with its heads side by side: (B, N, D)."""
    B, _, N, _ = o.shape
    return o.transpose(0, 2, 1, 3).reshape(B, N, -1)
