"""Multi-head self-attention (Vaswani et al. 2017; ViT appendix A), forward and backward.

Every token asks a question (its query), advertises what it can answer (its key), and carries the answer (its
value). For each image and each of H heads of width K = D / H, with tokens x (N, D):

    q = x Wq + bq      k = x Wk + bk      v = x Wv + bv          (N, K)                    (1)
    S = q k^T / sqrt(K)                                          (N, N)                    (2)
    A = softmax of each row of S                                 (N, N)                    (3)
    o = A v                                                      (N, K)                    (4)
    y = [o of head 1, ..., o of head H] Wo + bo                  (N, D)                    (5)

The q, k and v of all heads come from a single product with one matrix (D, 3D), whose columns are ordered (q k
v, head, K). Every head reads the whole token, not a slice of it; only (5) mixes the heads.

Backward: the same five lines in reverse order. Each product C = A B gives dA = dC B^T and dB = A^T dC.

    dO = dy Wo^T, cut into heads         (and dWo, dbo as in linear)                       (6)
    dA = dO v^T        dv = A^T dO                                                         (7)
    dS = A * (dA - row sums of dA * A)             as in softmax                           (8)
    dq = dS k / sqrt(K)        dk = dS^T q / sqrt(K)                                       (9)
    dx = [dq dk dv] [Wq Wk Wv]^T         (and dW, db as in linear)                        (10)

The gradient of bk is exactly zero: it adds the same q bk^T to a whole row of S, and softmax ignores a
constant.

If there is a table of relative positions, the scores of relative_scores join q k^T in (2), and their gradient
joins dS k in (9). Other models normalise q and k, or turn them by their positions, between (1) and (2), and
add scores or a mask after (2): see the class Extras. The backward pass takes the same steps in reverse.
"""

import math
from typing import NamedTuple

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.ops.dropout import dropout, dropout_backward
from tinyvit.ops.layer_norm import layer_norm, layer_norm_backward
from tinyvit.ops.linear import linear, linear_backward
from tinyvit.ops.noise import Noise
from tinyvit.ops.relative_scores import relative_scores, relative_scores_backward
from tinyvit.ops.rotary import Turn, rotary, rotary_backward
from tinyvit.ops.softmax import softmax, softmax_backward


class Extras(NamedTuple):
    """What some models do within their attention; the defaults are what the others do.

    q_norm and k_norm are gains and biases (K,) of a LayerNorm of each head's queries and keys, out_norm those
    (D,) of one of the heads' outputs side by side, all with the epsilon eps. turn is that of ops.rotary. With
    causal, as for texts, a token attends to itself and to those before it; then all tokens are queries.
    scores (H, N, N) are added to those of queries and keys.
    """

    q_norm: tuple[Array, ...] = ()
    k_norm: tuple[Array, ...] = ()
    turn: Turn | None = None
    out_norm: tuple[Array, ...] = ()
    eps: float = 1e-6
    causal: bool = False
    scores: Array | None = None


class ExtraGrads(NamedTuple):
    """The gradients of Extras, by the same names; dangles (H, T, K/2) are those of the angles of turn, and
    dscores (H, N, N) those of scores."""

    q_norm: tuple[Array, ...] = ()
    k_norm: tuple[Array, ...] = ()
    dangles: Array | None = None
    dscores: Array | None = None
    out_norm: tuple[Array, ...] = ()


def attention(
    x: Array,
    qkv_weight: Array,
    qkv_bias: Array,
    out_weight: Array,
    out_bias: Array,
    heads: int,
    queries: int | None = None,
    dropout_rate: float = 0.0,
    noise: Noise | None = None,
    relative: Array | None = None,
    extras: Extras | None = None,
) -> tuple[Array, tuple]:
    """Self-attention among the N tokens of each image.

    x (B, N, D), qkv_weight (D, 3D), qkv_bias (3D,), out_weight (D, D), out_bias (D,); heads must divide D. If
    queries Q is given, only the first Q tokens attend to all N: in the last block only the class token may be
    needed. Dropout, if any, acts on the attention probabilities. relative is a table of relative positions,
    (2N - 1, K), or None; extras are what other models than the paper's do besides. Returns y (B, Q, D), with
    Q = N by default, and the cache; attention_probabilities(cache) reads A (B, H, Q, N) from it.
    """
    B, N, D = x.shape
    K = D // heads
    qkv, qkv_cache = linear(x, qkv_weight, qkv_bias)  # (B, N, 3D)                           eq. 1
    q, k, v = qkv.reshape(B, N, 3, heads, K).transpose(2, 0, 3, 1, 4)  # 3 times (B, H, N, K)
    q, k, prepared = _prepared(q, k, extras) if extras else (q, k, None)
    q = q[:, :, :queries] * (1 / math.sqrt(K))  # (B, H, Q, K): q is scaled, since it is smaller than S
    S = _scores(q, k, relative)  # (B, H, Q, N)                                              eq. 2
    if extras and extras.scores is not None:
        S += extras.scores[:, : q.shape[2]]
    if extras and extras.causal:
        S += array_module(x).triu(array_module(x).full((N, N), -np.inf, dtype=x.dtype), 1)
    A, softmax_cache = softmax(S)  # (B, H, Q, N)                                            eq. 3
    dropped, dropout_cache = dropout(A, dropout_rate, noise)
    o = dropped @ v  # (B, H, Q, K)                                                          eq. 4
    o = o.transpose(0, 2, 1, 3).reshape(B, -1, D)  # heads side by side
    o, norm_cache = layer_norm(o, *extras.out_norm, extras.eps) if extras and extras.out_norm else (o, None)
    y, out_cache = linear(o, out_weight, out_bias)  # (B, Q, D)                              eq. 5
    caches = qkv_cache, softmax_cache, dropout_cache, out_cache
    more = (prepared, norm_cache, extras.scores is not None) if extras else ()
    return y, (q, k, v, dropped, *caches, relative, *more)


def attention_backward(dy: Array, cache: tuple) -> tuple[Array, ...]:
    """Gradients of attention: dx (B, N, D), dqkv_weight, dqkv_bias, dout_weight, dout_bias.

    If there was a table of relative positions, its gradient comes last; if there were extras, ExtraGrads do.
    """
    q, k, v, dropped, qkv_cache, softmax_cache, dropout_cache, out_cache, relative, *more = cache
    prepared, norm_cache, has_scores = more or (None, None, False)
    (B, H, N, K), Q = k.shape, q.shape[2]
    dO, dout_weight, dout_bias = linear_backward(dy, out_cache)  # (B, Q, D)                 eq. 6
    dO, *dnorm = layer_norm_backward(dO, norm_cache) if norm_cache else (dO,)
    dO = dO.reshape(B, Q, H, K).transpose(0, 2, 1, 3)  # (B, H, Q, K)
    dqkv = array_module(dy).empty((B, N, 3, H, K), dtype=dy.dtype)
    dq, dk, dv = dqkv.transpose(2, 0, 3, 1, 4)  # views: writing to them fills dqkv
    dA = dropout_backward(dO @ v.transpose(0, 1, 3, 2), dropout_cache)  # (B, H, Q, N)       eq. 7
    dv[...] = dropped.transpose(0, 1, 3, 2) @ dO  #                                          eq. 7
    dS = softmax_backward(dA, softmax_cache)  # (B, H, Q, N)                                 eq. 8
    dq[:, :, :Q] = dS @ k * (1 / math.sqrt(K))  #                                            eq. 9
    dq[:, :, Q:] = 0  # these tokens were not queries
    dk[...] = dS.transpose(0, 1, 3, 2) @ q  # q is already scaled                            eq. 9
    others: list = []  # the gradients of what only some models have
    if relative is not None:
        dq_relative, *others = relative_scores_backward(dS, (q, relative))
        dq[:, :, :Q] += dq_relative * (1 / math.sqrt(K))
    if prepared is not None:
        dq[...], dk[...], grads = _prepared_backward(dq, dk, prepared)
        if has_scores:
            rest = array_module(dy).zeros((H, N - Q, N), dtype=dy.dtype)
            grads = grads._replace(dscores=array_module(dy).concatenate([dS.sum(axis=0), rest], axis=1))
        others.append(grads._replace(out_norm=tuple(dnorm)))
    dx, dqkv_weight, dqkv_bias = linear_backward(dqkv.reshape(B, N, 3 * H * K), qkv_cache)  # eq. 10
    return dx, dqkv_weight, dqkv_bias, dout_weight, dout_bias, *others


def attention_probabilities(cache: tuple) -> Array:
    """A (B, H, Q, N): how much each query token (third axis) draws from each key token (last axis)."""
    return cache[5]


def _scores(q: Array, k: Array, relative: Array | None) -> Array:
    """S (B, H, Q, N) of scaled queries and of keys, and of the offsets between them if there is a table."""
    S = q @ k.transpose(0, 1, 3, 2)
    if relative is not None:
        S += relative_scores(q, relative)[0]
    return S


def _prepared(q: Array, k: Array, extras: Extras) -> tuple[Array, Array, tuple]:
    """Queries and keys (B, H, N, K), normalised, then turned, where a model does that; and the cache."""
    q, q_norm = layer_norm(q, *extras.q_norm, extras.eps) if extras.q_norm else (q, None)
    k, k_norm = layer_norm(k, *extras.k_norm, extras.eps) if extras.k_norm else (k, None)
    q, q_turn = rotary(q, extras.turn) if extras.turn else (q, None)
    k, k_turn = rotary(k, extras.turn) if extras.turn else (k, None)
    return q, k, (q_norm, k_norm, q_turn, k_turn)


def _prepared_backward(dq: Array, dk: Array, cache: tuple) -> tuple[Array, Array, ExtraGrads]:
    """Gradients of _prepared: dq, dk, and those of the extras."""
    q_norm, k_norm, q_turn, k_turn = cache
    dangles = None
    dq_norm: list[Array] = []
    dk_norm: list[Array] = []
    if q_turn:
        dq, dangles_q = rotary_backward(dq, q_turn)
        dk, dangles_k = rotary_backward(dk, k_turn)
        dangles = dangles_q + dangles_k
    if q_norm:
        dq, *dq_norm = layer_norm_backward(dq, q_norm)
        dk, *dk_norm = layer_norm_backward(dk, k_norm)
    return dq, dk, ExtraGrads(tuple(dq_norm), tuple(dk_norm), dangles)
