"""The readout: from the tokens of the last block to logits (ViT eq. 4), forward and backward.

It consists of the final LayerNorm, pooling (the class token, or the mean of the patches), an optional tanh
layer (pre_logits), and the head. The input of the head is called the features of an image. In a model that
predicts patches, the head instead reads the token of each patch. There is no LayerNorm in a ResNet on its
own, whose tokens are the results of a ReLU.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tinyvit import ops
from tinyvit.backend import Array, array_module
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
    """Features of tokens x (B, N, D), and the cache; (B, D), or (B, pre_logits) if there is that layer.

    Those of a model that predicts patches are the mean of its patches, as in He et al. 2021, Masked
    Autoencoders: its class token reaches no loss, so that nothing has trained it to describe the image.
    """
    if config.predicts_patches:
        return _head_input(config, params, x, lambda x: ops.mean_pool(x[:, int(config.has_token) :]))
    return _head_input(config, params, x, ops.token_pool if config.has_token else ops.mean_pool)


def readout(
    config: ViTConfig, params: Params, x: Array, chosen: Array | None = None
) -> tuple[Array, ReadoutCache]:
    """Logits (B, C) for tokens x (B, N, D), and the cache.

    For a model that predicts patches, they are (B, n, C): those of the chosen patches (B, n), or of all.
    """
    if config.predicts_patches:
        x, features = _head_input(config, params, x, partial(ops.row_pool, rows=_rows(config, x, chosen)))
    else:
        x, features = features_of(config, params, x)
    logits, head = ops.linear(x, *params.group("head"))  # (B, C) or (B, n, C)
    return logits, ReadoutCache(features, head)


def readout_backward(config: ViTConfig, dlogits: Array, cache: ReadoutCache, grads: Params) -> Array:
    """Gradient of readout: dlogits, shaped as the logits, to dx (B, N, D); adds the parameters' to grads."""
    norm, pool, pre_logits, tanh = cache.features
    dx, *dhead = ops.linear_backward(dlogits, cache.head)
    grads.add("head", *dhead)
    if pre_logits is not None:
        dx = ops.tanh_backward(dx, tanh)
        dx, *dpre_logits = ops.linear_backward(dx, pre_logits)
        grads.add("pre_logits", *dpre_logits)
    if config.predicts_patches:
        dx = ops.row_pool_backward(dx, pool)  # (B, N, D)
    else:
        dx = (ops.token_pool_backward if config.has_token else ops.mean_pool_backward)(dx, pool)
    if norm is not None:
        dx, *dnorm = ops.layer_norm_backward(dx, norm)
        grads.add("norm", *dnorm)
    return dx


def _head_input(
    config: ViTConfig, params: Params, x: Array, pool: Callable[[Array], tuple[Array, tuple]]
) -> tuple[Array, FeaturesCache]:
    """What the head reads, of tokens x (B, N, D) pooled in the given way, and the cache."""
    norm = None
    if config.has_transformer:
        x, norm = ops.layer_norm(x, *params.group("norm"), config.eps)
    x, pooled = pool(x)  # (B, D) or (B, n, D)                                               ViT eq. 4
    if not config.pre_logits:
        return x, FeaturesCache(norm, pooled, None, None)
    x, pre_logits = ops.linear(x, *params.group("pre_logits"))
    x, tanh = ops.tanh(x)  # (B, pre_logits)
    return x, FeaturesCache(norm, pooled, pre_logits, tanh)


def _rows(config: ViTConfig, x: Array, chosen: Array | None) -> Array:
    """The rows (B, n) of the chosen patches, or of all, among the tokens x: the class token comes first."""
    if chosen is None:
        xp = array_module(x)
        chosen = xp.broadcast_to(xp.arange(config.patches), (len(x), config.patches))
    return chosen + config.has_token
