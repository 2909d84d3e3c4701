"""Pooling: what the head reads from the tokens (ViT eq. 4), forward and backward.

    config.pool
    token       the class token                                                            (B, D)
    mean        the mean of the patches                                                    (B, D)
    both        the class token and that mean, side by side                                (B, 2D)
    distilled   the class token and the distillation token, which have a head each         (B, 2, D)
    attention   o + MLP(LayerNorm(o)), where o is the attention pooling of the patches     (B, D)

A ViT that predicts patches is pooled only for its features: by the mean of the patches.
"""

from typing import Any

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params


def pool(config: ViTConfig, params: Params, x: Array) -> tuple[Array, Any]:
    """What the head reads from the tokens x (B, N, D), and the cache."""
    kind = "mean" if config.predicts_patches else config.pool
    if kind == "token":
        return ops.token_pool(x)
    if kind == "distilled":
        return x[:, :2], x.shape
    if kind == "attention":
        y, cache = _attention_pool(config, params, x[:, _asked(config)])
        return y, (x.shape, cache)
    mean, cache = ops.mean_pool(x[:, config.prefix :])
    if kind == "mean":
        return mean, (x.shape, cache)
    return array_module(x).concatenate([x[:, 0], mean], axis=1), (x.shape, cache)


def pool_backward(config: ViTConfig, dy: Array, cache: Any, grads: Params) -> Array:
    """Gradient of pool: dx (B, N, D); adds those of the parameters to grads.

    A model that predicts patches is pooled for its features only, and has no gradient here.
    """
    if config.pool == "token":
        return ops.token_pool_backward(dy, cache)
    shape, cache = (cache, None) if config.pool == "distilled" else cache
    dx = array_module(dy).zeros(shape, dtype=dy.dtype)
    if config.pool == "distilled":
        dx[:, :2] = dy
    elif config.pool == "attention":
        dx[:, _asked(config)] = _attention_pool_backward(dy, cache, grads)
    else:
        D = shape[2]
        dx[:, config.prefix :] = ops.mean_pool_backward(dy[:, -D:], cache)
        if config.pool == "both":
            dx[:, 0] = dy[:, :D]
    return dx


def _asked(config: ViTConfig) -> slice:
    """The tokens that attention pooling reads: all, or the patches."""
    return slice(0 if config.pool_all else config.prefix, None)


def _attention_pool(config: ViTConfig, params: Params, x: Array) -> tuple[Array, tuple]:
    """Attention pooling of tokens x (B, N, D), and the MLP after it: (B, D)."""
    heads = config.pool_heads or config.heads
    o, asked = ops.attention_pool(x, *params.group("pool.attn"), heads)
    n, norm = ops.layer_norm(o, *params.group("pool.norm"), config.eps)
    m, mlp = ops.mlp(n, *params.group("pool.mlp"), config.gelu)
    return o + m, (asked, norm, mlp)


def _attention_pool_backward(dy: Array, cache: tuple, grads: Params) -> Array:
    asked, norm, mlp = cache
    dn, *dmlp = ops.mlp_backward(dy, mlp)
    grads.add("pool.mlp", *dmlp)
    do, *dnorm = ops.layer_norm_backward(dn, norm)
    grads.add("pool.norm", *dnorm)
    dx, *dasked = ops.attention_pool_backward(do + dy, asked)
    grads.add("pool.attn", *dasked)
    return dx
