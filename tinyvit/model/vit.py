"""The Vision Transformer (Dosovitskiy et al. 2020, section 3.1): forward, and backward read upwards."""

from __future__ import annotations

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model.block import add_all, block, block_backward
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params


def forward(
    params: Params, config: ViTConfig, images: Array, noise: ops.Noise | None = None, whole: bool = False
) -> tuple[Array, tuple]:
    """Logits of a batch of images.

    images (B, H, W, 3), normalised, in the dtype of the parameters. Give noise in training, so that dropout
    and stochastic depth act; leave it out in use. Of the last block only the class token is used; whole
    computes it for all tokens nevertheless, to look at its attention. Returns logits (B, C) and the cache.
    """
    x, _ = ops.patchify(images, config.patch_size)  # (B, T, P*P*3)
    x, patch = ops.linear(x, params["patch.weight"], params["patch.bias"])  # (B, T, D)
    if config.has_token:
        x, _ = ops.class_token(x, params["class_token"])  # (B, N, D)
    x, _ = ops.position_embedding(x, params["position"])  #                                  ViT eq. 1
    x, drop = ops.dropout(x, config.dropout, noise)

    blocks = []
    for i in range(config.layers):
        only_token = config.has_token and i == config.layers - 1 and not whole
        x, cache = block(params, config, i, x, noise, rows=1 if only_token else None)  #     ViT eq. 2, 3
        blocks.append(cache)

    x, norm = ops.layer_norm(x, params["norm.weight"], params["norm.bias"], config.eps)
    x, pool = (ops.token_pool if config.has_token else ops.mean_pool)(x)  # (B, D)           ViT eq. 4
    hidden = None
    if config.pre_logits:
        x, pre_logits = ops.linear(x, params["pre_logits.weight"], params["pre_logits.bias"])
        x, tanh = ops.tanh(x)  # (B, pre_logits)
        hidden = pre_logits, tanh
    logits, head = ops.linear(x, params["head.weight"], params["head.bias"])  # (B, C)
    return logits, (config, patch, drop, blocks, norm, pool, hidden, head)


def backward(dlogits: Array, cache: tuple, grads: Params) -> None:
    """Add every parameter's gradient to grads, given dlogits (B, C) and the cache of the forward pass."""
    config, patch, drop, blocks, norm, pool, hidden, head = cache

    dx, *dweights = ops.linear_backward(dlogits, head)
    add_all(grads, "head.", ("weight", "bias"), dweights)
    if hidden is not None:
        pre_logits, tanh = hidden
        dx = ops.tanh_backward(dx, tanh)
        dx, *dweights = ops.linear_backward(dx, pre_logits)
        add_all(grads, "pre_logits.", ("weight", "bias"), dweights)
    dx = (ops.token_pool_backward if config.has_token else ops.mean_pool_backward)(dx, pool)  # (B, N, D)
    dx, *dweights = ops.layer_norm_backward(dx, norm)
    add_all(grads, "norm.", ("weight", "bias"), dweights)

    for i in reversed(range(config.layers)):
        dx = block_backward(dx, blocks[i], i, grads)  # (B, N, D)

    dx = ops.dropout_backward(dx, drop)
    dx, dposition = ops.position_embedding_backward(dx, None)
    grads.add("position", dposition)
    if config.has_token:
        dx, dtoken = ops.class_token_backward(dx, None)  # (B, T, D)
        grads.add("class_token", dtoken)
    _, *dweights = ops.linear_backward(dx, patch)
    add_all(grads, "patch.", ("weight", "bias"), dweights)


def loss_and_grads(
    params: Params,
    config: ViTConfig,
    images: Array,
    targets: Array,
    grads: Params,
    smoothing: float = 0.0,
    noise: ops.Noise | None = None,
    share: float = 1.0,
) -> Array:
    """Mean cross-entropy of a batch, its gradient added to grads; both multiplied by share.

    share is this batch's part of a larger one (its images divided by all images): then the losses and
    gradients of the parts add up to those of the whole. targets as in ops.cross_entropy. Returns the loss,
    an array without axes.
    """
    logits, cache = forward(params, config, images, noise)
    loss, loss_cache = ops.cross_entropy(logits, targets, smoothing)
    backward(ops.cross_entropy_backward(loss_cache) * share, cache, grads)
    return loss * share


def attention_maps(cache: tuple) -> list[Array]:
    """The attention probabilities A (B, H, N, N) of every block, from the cache of a forward pass.

    Those of the last block of a class-token model are (B, H, 1, N), unless the pass was `whole`.
    """
    blocks = cache[3]
    return [ops.attention_probabilities(attn) for _, attn, *_ in blocks]
