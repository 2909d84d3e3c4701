"""The whole model in a plan: its forward and its backward, as in model/vit.py."""

from typing import NamedTuple

from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.plan.block import Block, block, block_backward
from tinyvit.engine.cuda.plan.draft import Draft
from tinyvit.engine.cuda.plan.patch_prediction import Corruption
from tinyvit.engine.cuda.plan.readout import Readout, features_of, readout, readout_backward
from tinyvit.engine.cuda.plan.residual import Sum
from tinyvit.engine.cuda.plan.stem import Stem, stem, stem_backward


class Cache(NamedTuple):
    """The arrays that the backward needs, one entry per part."""

    stem: Stem
    blocks: list[Block]
    readout: Readout


def forward(draft: Draft) -> tuple[Buffer, Cache]:
    """Logits (B, C), or (B*n, C) of corrupted patches, without the bias of the head."""
    x, stem_cache = stem(draft)
    blocks = []
    for i in range(draft.config.layers):
        x, cache = block(draft, i, x)
        blocks.append(cache)
    logits, readout_cache = readout(draft, x, stem_cache.corruption)
    return logits, Cache(stem_cache, blocks, readout_cache)


def backward(draft: Draft, dlogits: Buffer, cache: Cache) -> None:
    """The gradients of all parameters, given dlogits, shaped as the logits."""
    dx, dbranch = readout_backward(draft, dlogits, cache.readout)
    for i in reversed(range(draft.config.layers)):
        dx, dbranch = block_backward(draft, i, dx, dbranch, cache.blocks[i])
    stem_backward(draft, dx, cache.stem)


def infer(draft: Draft) -> Buffer:
    """Logits (B, C), or (B*T, C) of patches, without the bias of the head; nothing is kept for a backward."""
    return readout(draft, *tokens(draft))[0]


def features(draft: Draft) -> Buffer:
    """Features (B, D) or (B, pre_logits)."""
    return features_of(draft, tokens(draft)[0]).features


def tokens(draft: Draft) -> tuple[Sum, Corruption | None]:
    """The tokens that leave the last block, and the corruption of patches that was given."""
    x, cache = stem(draft)
    for i in range(draft.config.layers):
        x = block(draft, i, x)[0]
    return x, cache.corruption
