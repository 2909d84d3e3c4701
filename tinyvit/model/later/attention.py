"""Attention with stages in it: on queries and keys, on their scores, and on the probabilities.

The lines of ops.attention up to the output matrix; see there for the mathematics, and model.later.part for
the three lists. Only the first `queries` tokens are queries, if that is given.
"""

import math

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.biases import own_biases, qkv_bias
from tinyvit.model.later.part import Stages
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage, backward_through, forward_through
from tinyvit.ops.attention import join_heads, split_heads


def attention_stage(
    config: ViTConfig, name: str, queries: int | None, heads: Stages, scores: Stages, probabilities: Stages
) -> Stage:
    """Tokens (B, N, D) to the heads' mixtures of values, side by side (B, Q, D)."""
    H, scale = config.heads, 1 / math.sqrt(config.head_width)

    def forward(params: Params, x: Array) -> tuple[Array, tuple]:
        weight, *bias = params.group(f"{name}.qkv")
        qkv, qkv_cache = ops.linear(x, weight, qkv_bias(config, tuple(bias), weight))  # (B, N, 3D)
        q, k, v = split_heads(qkv, 3, H)  # (B, H, N, K) each
        (q, k), of_heads = forward_through(heads, params, (q, k))
        q = q[:, :, :queries] * scale  # (B, H, Q, K)
        (_, S), of_scores = forward_through(scores, params, (q, q @ k.transpose(0, 1, 3, 2)))
        A, _ = ops.softmax(S)  # (B, H, Q, N)
        mixed, of_probabilities = forward_through(probabilities, params, A)
        cache = qkv_cache, (q, k, v, A), mixed, of_heads, of_scores, of_probabilities
        return join_heads(mixed @ v), cache

    def backward(do: Array, cache: tuple, grads: Params) -> Array:
        qkv_cache, (q, k, v, A), mixed, of_heads, of_scores, of_probabilities = cache
        (B, _, N, K), Q = k.shape, q.shape[2]
        (do,) = split_heads(do, 1, H)  # (B, H, Q, K)
        dqkv = array_module(do).empty((B, N, 3 * H * K), dtype=do.dtype)
        dq, dk, dv = split_heads(dqkv, 3, H)  # views: writing to them fills dqkv
        dA = backward_through(probabilities, do @ v.transpose(0, 1, 3, 2), of_probabilities, grads)
        dv[...] = mixed.transpose(0, 1, 3, 2) @ do
        more, dS = backward_through(scores, (0, ops.softmax_backward(dA, A)), of_scores, grads)
        dq[:, :, :Q] = dS @ k * scale
        dq[:, :, :Q] += more * scale
        dq[:, :, Q:] = 0  # these tokens were not queries
        dk[...] = dS.transpose(0, 1, 3, 2) @ q  # q is scaled
        dq[...], dk[...] = backward_through(heads, (dq, dk), of_heads, grads)
        dx, dweight, dbias = ops.linear_backward(dqkv, qkv_cache)
        grads.add(f"{name}.qkv", dweight, *own_biases(config, dbias))
        return dx

    return Stage(name, forward, backward)
