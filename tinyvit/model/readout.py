"""The readout: from the tokens of the last block to logits (ViT eq. 4), forward and backward.

It consists of the final LayerNorm, pooling (the class token, or the mean of the patches), an optional tanh
layer (pre_logits), and the head. The input of the head is called the features of an image. In a model that
predicts patches, the head instead reads the token of each patch. There is no LayerNorm in a pure ResNet,
whose tokens are the results of a ReLU. Later ViTs pool in other ways (see model.pool), or normalise what is
pooled instead of the tokens. For a class token both are the same, for a mean they are not.
"""

from typing import Any, NamedTuple

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params, add_with_bias, with_bias
from tinyvit.model.pool import pool, pool_backward


class FeaturesCache(NamedTuple):
    """What the backward pass needs for everything but the head; None for what the model does not have."""

    norm: tuple | None
    pool: Any
    pooled_norm: tuple | None
    pre_logits: tuple | None
    tanh: Array | None


class ReadoutCache(NamedTuple):
    """What the backward pass of the readout needs; two heads have a cache each."""

    features: FeaturesCache
    head: tuple
    head2: tuple | None = None


def features_of(config: ViTConfig, params: Params, x: Array) -> tuple[Array, FeaturesCache]:
    """Features of tokens x (B, N, D), and the cache: (B, D), (B, 2D) or (B, pre_logits).

    Those of a model that predicts patches are the mean of its patches, as in He et al. 2021, Masked
    Autoencoders: its class token reaches no loss, so that nothing has trained it to describe the image. Those
    of a model with two heads are the mean of their two inputs.
    """
    features, cache = _head_input(config, params, x)
    return features.mean(axis=1) if config.pool == "distilled" else features, cache


def readout(
    config: ViTConfig, params: Params, x: Array, chosen: Array | None = None
) -> tuple[Array, ReadoutCache]:
    """Logits (B, C) for tokens x (B, N, D), and the cache.

    For a model that predicts patches, they are (B, n, C): those of the chosen patches (B, n), or of all.
    """
    rows = _rows(config, x, chosen) if config.predicts_patches else None
    x, features = _head_input(config, params, x, rows)
    if config.pool == "distilled":
        one, head = ops.linear(x[:, 0], *with_bias(params, "head"))
        other, head2 = ops.linear(x[:, 1], *with_bias(params, "head2"))
        return (one + other) * 0.5, ReadoutCache(features, head, head2)  # (B, C)
    logits, head = ops.linear(x, *with_bias(params, "head"))  # (B, C) or (B, n, C)
    return logits, ReadoutCache(features, head)


def readout_backward(config: ViTConfig, dlogits: Array, cache: ReadoutCache, grads: Params) -> Array:
    """Gradient of readout: dlogits, shaped as the logits, to dx (B, N, D); adds the parameter gradients."""
    norm, pooled, pooled_norm, pre_logits, tanh = cache.features
    if cache.head2 is not None:
        dlogits = dlogits * 0.5
        dother, *dhead2 = ops.linear_backward(dlogits, cache.head2)
        add_with_bias(grads, "head2", *dhead2)
    dx, *dhead = ops.linear_backward(dlogits, cache.head)
    add_with_bias(grads, "head", *dhead)
    if cache.head2 is not None:
        dx = array_module(dx).stack([dx, dother], axis=1)  # (B, 2, D)
    if pre_logits is not None:
        dx = ops.tanh_backward(dx, tanh)
        dx, *dpre_logits = ops.linear_backward(dx, pre_logits)
        grads.add("pre_logits", *dpre_logits)
    if pooled_norm is not None:
        dx, *dnorm = ops.layer_norm_backward(dx, pooled_norm)
        grads.add("norm", *dnorm)
    if config.predicts_patches:
        dx = ops.row_pool_backward(dx, pooled)  # (B, N, D)
    else:
        dx = pool_backward(config, dx, pooled, grads)
    if norm is not None:
        dx, *dnorm = ops.layer_norm_backward(dx, norm)
        grads.add("norm", *dnorm)
    return dx


def _head_input(
    config: ViTConfig, params: Params, x: Array, rows: Array | None = None
) -> tuple[Array, FeaturesCache]:
    """The input of the head from tokens x (B, N, D), and the cache: of the given rows (B, n), or pooled."""
    norm = pooled_norm = None
    if config.has_transformer and config.final_norm == "tokens":
        x, norm = ops.layer_norm(x, *params.group("norm"), config.eps)
    # (B, D) or (B, n, D)                                                                    ViT eq. 4
    x, pooled = pool(config, params, x) if rows is None else ops.row_pool(x, rows)
    if config.final_norm == "pooled":
        x, pooled_norm = ops.layer_norm(x, *params.group("norm"), config.eps)
    if not config.pre_logits:
        return x, FeaturesCache(norm, pooled, pooled_norm, None, None)
    x, pre_logits = ops.linear(x, *params.group("pre_logits"))
    x, tanh = ops.tanh(x)  # (B, pre_logits)
    return x, FeaturesCache(norm, pooled, pooled_norm, pre_logits, tanh)


def _rows(config: ViTConfig, x: Array, chosen: Array | None) -> Array:
    """The rows (B, n) of the chosen patches, or of all, among the tokens x: other tokens come first."""
    if chosen is None:
        xp = array_module(x)
        chosen = xp.broadcast_to(xp.arange(config.patches), (len(x), config.patches))
    return chosen + config.prefix
