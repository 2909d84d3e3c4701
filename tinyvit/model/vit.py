"""The Vision Transformer (Dosovitskiy et al. 2020, section 3.1): its forward and its backward pass."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model.block import BlockCache, block, block_backward
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params
from tinyvit.model.readout import ReadoutCache, features_of, readout, readout_backward
from tinyvit.model.stem import StemCache, stem, stem_backward


class Blocks(Protocol):
    """Another way to train the blocks, which an engine can provide: see engine.cpu.blocks.

    Tokens x (B, N, D) may be overwritten, and so may their gradients.
    """

    def forward(self, x: Array, noise: ops.Noise | None) -> tuple[Array, Any]: ...

    def backward(self, dx: Array, cache: Any, grads: Params) -> Array: ...


class InferenceBlocks(Protocol):
    """Another way to compute the blocks without a backward pass: see engine.cpu.inference."""

    def infer(self, x: Array) -> Array: ...


class Cache(NamedTuple):
    """What the backward pass of a model needs, one entry per part; `by` is the engine's own way, if any."""

    config: ViTConfig
    stem: StemCache
    blocks: list[BlockCache] | Any
    readout: ReadoutCache
    by: Blocks | None = None


def forward(
    config: ViTConfig,
    params: Params,
    images: Array,
    noise: ops.Noise | None = None,
    whole: bool = False,
    corruption: ops.Corruption | None = None,
    blocks: Blocks | None = None,
) -> tuple[Array, Cache]:
    """Logits (B, C) for a batch of images, and the cache for backward.

    images (B, H, W, 3) are normalised and in the dtype of the parameters. Pass noise in training, so that
    dropout and stochastic depth act; omit it otherwise. The last block normally computes only the class
    token, since no other token reaches the logits; with `whole` it computes all tokens, so that its attention
    can be examined.

    A model that predicts patches gives logits (B, T, C) or, given a corruption of n patches of each image,
    (B, n, C) for these alone, in the order of corruption.chosen.

    An engine can compute the blocks in a way of its own, `blocks`, never whole.
    """
    x, stem_cache = stem(config, params, images, noise, corruption)  # (B, N, D)             ViT eq. 1
    if blocks:
        x, caches = blocks.forward(x, noise)
    else:
        caches = []
        for i in range(config.layers):
            rows = None if whole else config.rows_after(i)
            x, cache = block(config, params, i, x, noise, rows)  #                           ViT eq. 2, 3
            caches.append(cache)
    chosen = corruption.chosen if corruption else None
    logits, readout_cache = readout(config, params, x, chosen)  # (B, C)                     ViT eq. 4
    return logits, Cache(config, stem_cache, caches, readout_cache, blocks)


def backward(dlogits: Array, cache: Cache, grads: Params) -> None:
    """Add every parameter's gradient to grads, given dlogits (B, C) and the cache of the forward pass."""
    config = cache.config
    dx = readout_backward(config, dlogits, cache.readout, grads)
    if cache.by:
        dx = cache.by.backward(dx, cache.blocks, grads)
    else:
        for i in reversed(range(config.layers)):
            dx = block_backward(i, dx, cache.blocks[i], grads)  # (B, N, D)
    stem_backward(config, dx, cache.stem, grads)


def infer(
    config: ViTConfig,
    params: Params,
    images: Array,
    corruption: ops.Corruption | None = None,
    blocks: InferenceBlocks | None = None,
) -> Array:
    """Logits (B, C) for a batch of images, as in forward, but without keeping a cache."""
    chosen = corruption.chosen if corruption else None
    return readout(config, params, _tokens(config, params, images, corruption, blocks), chosen)[0]


def features(
    config: ViTConfig, params: Params, images: Array, blocks: InferenceBlocks | None = None
) -> Array:
    """Features of images (B, H, W, 3): the input of the head, (B, D), (B, 2D) or (B, pre_logits).

    Those of a model that predicts an embedding are that embedding, the output of its head. Keeps no cache.
    """
    x = _tokens(config, params, images, blocks=blocks)
    return (readout if config.predicts == "embedding" else features_of)(config, params, x)[0]


def attention_maps(cache: Cache) -> list[Array]:
    """The attention probabilities A (B, H, N, N) of every block, from the cache of a forward pass.

    For the last block of a class-token model they are (B, H, 1, N), unless the pass was `whole`.
    """
    return [ops.attention_probabilities(block.attention) for block in cache.blocks]


def attention_by_block(config: ViTConfig, params: Params, images: Array) -> Iterator[Array]:
    """The attention probabilities A (B, H, N, N) of one block after the other, for all tokens.

    Each block's cache is given up before the next block, so that memory holds one of them however deep the
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
    blocks: InferenceBlocks | None = None,
) -> Array:
    """The tokens that leave the last block."""
    x = stem(config, params, images, corruption=corruption)[0]
    if blocks:
        return blocks.infer(x)
    for i in range(config.layers):
        x = block(config, params, i, x, rows=config.rows_after(i))[0]
    return x
