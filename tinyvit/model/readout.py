"""The readout: from the tokens of the last block to logits (ViT eq. 4), forward and backward.

It consists of the final LayerNorm, pooling (the class token, or the mean of the patches), an optional tanh
layer (pre_logits), and the head. The input of the head is called the features of an image. There is no
LayerNorm in a ResNet on its own, whose tokens are the results of a ReLU.
"""

from __future__ import annotations

from typing import NamedTuple

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params


class FeaturesCache(NamedTuple):
    """What the backward pass needs for everything but the head; None for what the model does not have."""

    norm: tuple | None
    pool: tuple
    pre_logits: tuple | None
    tanh: Array | None


class ReadoutCache(NamedTuple):
    """What the backward pass of the readout needs."""

    features: FeaturesCache
    head: tuple


def features_of(config: ViTConfig, params: Params, x: Array) -> tuple[Array, FeaturesCache]:
    """Features of tokens x (B, N, D), and the cache; (B, D), or (B, pre_logits) if there is that layer."""
    norm = None
    if config.has_transformer:
        x, norm = ops.layer_norm(x, *params.group("norm"), config.eps)
    x, pool = (ops.token_pool if config.has_token else ops.mean_pool)(x)  # (B, D)           ViT eq. 4
    if not config.pre_logits:
        return x, FeaturesCache(norm, pool, None, None)
    x, pre_logits = ops.linear(x, *params.group("pre_logits"))
    x, tanh = ops.tanh(x)  # (B, pre_logits)
    return x, FeaturesCache(norm, pool, pre_logits, tanh)


def readout(config: ViTConfig, params: Params, x: Array) -> tuple[Array, ReadoutCache]:
    """Logits (B, C) for tokens x (B, N, D), and the cache."""
    x, features = features_of(config, params, x)
    logits, head = ops.linear(x, *params.group("head"))  # (B, C)
    return logits, ReadoutCache(features, head)


def readout_backward(config: ViTConfig, dlogits: Array, cache: ReadoutCache, grads: Params) -> Array:
    """Gradient of readout: dlogits (B, C) to dx (B, N, D); adds the parameter gradients to grads."""
    norm, pool, pre_logits, tanh = cache.features
    dx, *dhead = ops.linear_backward(dlogits, cache.head)
    grads.add("head", *dhead)
    if config.pre_logits:
        dx = ops.tanh_backward(dx, tanh)
        dx, *dpre_logits = ops.linear_backward(dx, pre_logits)
        grads.add("pre_logits", *dpre_logits)
    dx = (ops.token_pool_backward if config.has_token else ops.mean_pool_backward)(dx, pool)  # (B, N, D)
    if config.has_transformer:
        dx, *dnorm = ops.layer_norm_backward(dx, norm)
        grads.add("norm", *dnorm)
    return dx
