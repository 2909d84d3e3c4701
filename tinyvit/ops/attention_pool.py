"""Attention pooling (Zhai et al. 2022, *Scaling Vision Transformers*), forward and backward.

A learned query, the probe p, attends to all tokens of an image. For each of H heads of width K, with tokens
x (N, D):

    q = p Wq + bq                   (1, K)      k = x Wk + bk      v = x Wv + bv     (N, K)    (1)
    A = softmax of q k^T / sqrt(K)  (1, N)      o = A v                              (1, K)    (2)
    y = [o of head 1, ..., o of head H] Wo + bo                                      (1, D)    (3)

Backward: as in ops.attention, but all images share one query, so that its gradient is a sum over them.

    do = dy Wo^T       dA = do v^T       dv = A^T do       dS = A * (dA - row sums of dA * A)
    dq = sum over images of dS k / sqrt(K)        dk = dS^T q / sqrt(K)        dp = dq Wq^T    (4)
"""

import math

from tinyvit.backend import Array, array_module
from tinyvit.ops.linear import linear, linear_backward
from tinyvit.ops.softmax import softmax, softmax_backward


def attention_pool(
    x: Array,
    probe: Array,
    q_weight: Array,
    q_bias: Array,
    kv_weight: Array,
    kv_bias: Array,
    out_weight: Array,
    out_bias: Array,
    heads: int,
) -> tuple[Array, tuple]:
    """One vector of each image: y (B, D) of tokens x (B, N, D), and the cache.

    probe (1, D), q_weight (D, D), kv_weight (D, 2D), whose columns are (k v, head, K), out_weight (D, D).
    """
    B, N, D = x.shape
    K = D // heads
    q, q_cache = linear(probe, q_weight, q_bias)  # (1, D)                                   eq. 1
    q = q.reshape(heads, 1, K) * (1 / math.sqrt(K))
    kv, kv_cache = linear(x, kv_weight, kv_bias)  # (B, N, 2D)
    k, v = kv.reshape(B, N, 2, heads, K).transpose(2, 0, 3, 1, 4)  # 2 times (B, H, N, K)
    A, softmax_cache = softmax(q @ k.transpose(0, 1, 3, 2))  # (B, H, 1, N)                  eq. 2
    o = (A @ v).reshape(B, D)
    y, out_cache = linear(o, out_weight, out_bias)  #                                        eq. 3
    return y, (q, k, v, A, q_cache, kv_cache, softmax_cache, out_cache)


def attention_pool_backward(dy: Array, cache: tuple) -> tuple[Array, ...]:
    """Gradients of attention_pool: dx (B, N, D), dprobe, dq_weight, dq_bias, dkv_weight, dkv_bias,
    dout_weight, dout_bias."""
    q, k, v, A, q_cache, kv_cache, softmax_cache, out_cache = cache
    B, H, N, K = k.shape
    do, dout_weight, dout_bias = linear_backward(dy, out_cache)
    do = do.reshape(B, H, 1, K)
    dkv = array_module(dy).empty((B, N, 2, H, K), dtype=dy.dtype)
    dk, dv = dkv.transpose(2, 0, 3, 1, 4)  # views: writing to them fills dkv
    dv[...] = A.transpose(0, 1, 3, 2) @ do  #                                                eq. 4
    dS = softmax_backward(do @ v.transpose(0, 1, 3, 2), softmax_cache)  # (B, H, 1, N)
    dk[...] = dS.transpose(0, 1, 3, 2) @ q  # q is already scaled
    dq = (dS @ k).sum(axis=0).reshape(1, H * K) * (1 / math.sqrt(K))
    dprobe, dq_weight, dq_bias = linear_backward(dq, q_cache)
    dx, dkv_weight, dkv_bias = linear_backward(dkv.reshape(B, N, 2 * H * K), kv_cache)
    return dx, dprobe, dq_weight, dq_bias, dkv_weight, dkv_bias, dout_weight, dout_bias


def pool_probabilities(cache: tuple) -> Array:
    """A (B, H, N): how much the probe draws from each token, from the cache of attention_pool."""
    return cache[3][:, :, 0]
