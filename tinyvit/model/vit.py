"""The Vision Transformer (Dosovitskiy et al. 2020, section 3.1): its forward and its backward pass."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model.block import block, block_backward
from tinyvit.model.config import ViTConfig
from tinyvit.model.engine_blocks import EngineBlocks, EngineInference
from tinyvit.model.params import Params
from tinyvit.model.readout import ReadoutCache, features_of, readout, readout_backward
from tinyvit.model.stem import StemCache, stem, stem_backward


class Cache(NamedTuple):
    """What the backward pass of a model needs, one entry per part.

    blocks are the caches of the blocks or, if an engine has computed them, what its engine_blocks returned.
    What is frozen has none.
    """

    config: ViTConfig
    stem: StemCache | None
    blocks: Any
    readout: ReadoutCache
    engine_blocks: EngineBlocks | None = None


def forward(
    config: ViTConfig,
    params: Params,
    images: Array,
    noise: ops.Noise | None = None,
    whole: bool = False,
    corruption: ops.Corruption | None = None,
    blocks: EngineBlocks | None = None,
    frozen: int | None = None,
) -> tuple[Array, Cache]:
    """Logits (B, C) for a batch of images, and the cache for backward.

    images (B, H, W, 3) are normalised and in the dtype of the parameters. Pass noise in training, so that
    dropout and stochastic depth act; omit it otherwise. The last block normally computes only the class
    token, since no other token reaches the logits; with `whole` it computes all tokens, so that its attention
    can be examined.

    A model that predicts patches gives logits (B, T, C) or, given a corruption of n patches of each image,
    (B, n, C) for these alone, in the order of corruption.chosen.

    An engine can pass `blocks` to compute them in its own way; `whole` then has no effect.

    frozen is how many blocks, from the first, do not learn, and neither does the stem: no caches of them are
    kept, and the backward pass ends above them. If it is None, everything learns.
    """
    stem_cache: StemCache | None
    x, stem_cache = stem(config, params, images, noise, corruption)  # (B, N, D)             ViT eq. 1
    if frozen is not None:
        stem_cache = None
    if blocks:
        x, caches = blocks.forward(x, noise, frozen or 0)
    else:
        caches = []
        for i in range(config.layers):
            rows = None if whole else config.rows_after(i)
            x, cache = block(config, params, i, x, noise, rows)  #                           ViT eq. 2, 3
            caches.append(cache if i >= (frozen or 0) else None)
    chosen = corruption.chosen if corruption else None
    logits, readout_cache = readout(config, params, x, chosen)  # (B, C)        ViT eq. 4, then the head
    return logits, Cache(config, stem_cache, caches, readout_cache, blocks)


def backward(dlogits: Array, cache: Cache, grads: Params) -> None:
    """Add the gradient of every parameter that learns to grads, given dlogits, shaped as the logits."""
    config = cache.config
    dx = readout_backward(config, dlogits, cache.readout, grads)
    if cache.engine_blocks:
        dx = cache.engine_blocks.backward(dx, cache.blocks, grads)
    else:
        for i in reversed(range(config.layers)):
            if cache.blocks[i] is None:  # the first of those that are frozen, which only frozen ones precede
                break
            dx = block_backward(i, dx, cache.blocks[i], grads)  # (B, N, D)
    if cache.stem is not None:
        stem_backward(config, dx, cache.stem, grads)


def infer(
    config: ViTConfig,
    params: Params,
    images: Array,
    corruption: ops.Corruption | None = None,
    blocks: EngineInference | None = None,
) -> Array:
    """Logits (B, C) for a batch of images, as in forward, but without keeping a cache."""
    chosen = corruption.chosen if corruption else None
    x = _tokens(config, params, images, corruption, blocks)
    return readout(config, params, x, chosen)[0]


def features(
    config: ViTConfig, params: Params, images: Array, blocks: EngineInference | None = None
) -> Array:
    """Features of images (B, H, W, 3): the input of the head, (B, D), (B, 2D) or (B, pre_logits).

    If the model predicts an embedding, its features are that embedding, the output of its head. No cache is
    kept.
    """
    x = _tokens(config, params, images, blocks=blocks)
    if config.predicts == "embedding":
        return readout(config, params, x)[0]
    return features_of(config, params, x)[0]


def attention_maps(cache: Cache) -> list[Array]:
    """The attention probabilities A (B, heads, N, N) of every block, from the cache of a forward pass.

    For the last block of a class-token model they are (B, heads, 1, N), unless the pass was `whole`. No
    engine may have computed the blocks.
    """
    return [ops.attention_probabilities(each.attention) for each in cache.blocks]


def attention_by_block(config: ViTConfig, params: Params, images: Array) -> Iterator[Array]:
    """The attention probabilities A (B, heads, N, N), block by block, for all tokens.

    Each block's cache is freed before the next block, so that memory holds one of them however deep the
    model is.
    """
    x = stem(config, params, images)[0]
    for i in range(config.layers):
        x, cache = block(config, params, i, x)
        yield ops.attention_probabilities(cache.attention)


def _tokens(
    config: ViTConfig,
    params: Params,
    images: Array,
    corruption: ops.Corruption | None = None,
    blocks: EngineInference | None = None,
) -> Array:
    """The tokens that leave the last block."""
    x = stem(config, params, images, corruption=corruption)[0]
    if blocks:
        return blocks.infer(x)
    for i in range(config.layers):
        x = block(config, params, i, x, rows=config.rows_after(i))[0]
    return x
