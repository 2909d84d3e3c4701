"""The readout in a plan, forward and backward: from tokens to logits, as in model/vit.py."""

from typing import NamedTuple

from tinyvit.engine.cuda.calls.readout import (
    bias_tanh,
    bias_tanh_backward,
    mean_pool,
    pool_backward,
    take_rows,
    tanh_partials,
)
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.plan.draft import Draft
from tinyvit.engine.cuda.plan.residual import Norm, Sum, add_and_norm, add_and_norm_backward
from tinyvit.engine.cuda.plan.stem import Corruption


class Readout(NamedTuple):
    """What the backward needs: the final LayerNorm, its result pooled, the input of the tanh, features."""

    norm: Norm
    pooled: Buffer
    h: Buffer | None
    features: Buffer
    hidden: Corruption | None


def features_of(draft: Draft, tokens: Sum, each: bool = False, hidden: Corruption | None = None) -> Readout:
    """Features (B, D), or (B, F) after the tanh layer, of the tokens that leave the last block.

    With `each`, (B*n, D) or (B*n, F): those of each patch, or of each that is corrupted.
    """
    config, B, N, D = draft.config, draft.batch, draft.config.tokens, draft.config.width
    norm = add_and_norm(draft, tokens, "norm")
    pooled = norm.y  # (B, D): where the head reads the class token, no other has left the last block
    if each:
        chosen = hidden and hidden.chosen
        taken = draft.array("taken", B, chosen.shape[1] if chosen else config.patches, D)
        draft.add(take_rows(norm.y.view(0, B, N, D), chosen, taken, config.prefix), "chosen patches")
        pooled = taken.view(0, taken.size // D, D)
    elif not config.reads_token or config.predicts_patches:
        pooled = draft.array("pooled", B, D)
        draft.add(mean_pool(norm.y.view(0, B, N, D), pooled, config.prefix), "pooling")
    if not config.pre_logits:
        return Readout(norm, pooled, None, pooled, hidden)
    h = draft.linear(pooled, "pre_logits.weight", "pre_logits.h")  # (R, F)
    features = draft.array("features", *h.shape)
    draft.add(bias_tanh(h, draft.parameters["pre_logits.bias"], features), "pre_logits")
    return Readout(norm, pooled, h, features, hidden)


def readout(draft: Draft, tokens: Sum, hidden: Corruption | None = None) -> tuple[Buffer, Readout]:
    """Logits (B, C), or (B*n, C) of patches, without the bias, of the tokens that leave the last block."""
    cache = features_of(draft, tokens, draft.config.predicts_patches, hidden)
    return draft.linear(cache.features, "head.weight", "logits"), cache


def readout_backward(draft: Draft, dlogits: Buffer, cache: Readout) -> tuple[Buffer, Buffer]:
    """Gradients of the tokens that leave the last block, and of the branch in their sum, given dlogits."""
    config, B, N, D = draft.config, draft.batch, draft.config.tokens, draft.config.width
    dx = draft.linear_backward(dlogits, cache.features, "head.weight", "dfeatures")  # (B, D) or (B, F)
    if config.pre_logits:
        dh = draft.array("pre_logits.dh", *dx.shape)
        partials = draft.partials(tanh_partials(dx.shape[0]), config.pre_logits)
        bias = draft.parameters["pre_logits.bias"]
        draft.add(bias_tanh_backward(dx, cache.h, bias, dh, partials), "pre_logits backward")
        draft.sums_to("pre_logits.bias", partials)
        dx = draft.linear_backward(dh, cache.pooled, "pre_logits.weight", "dpooled")  # (B, D)
    if cache.hidden or not config.reads_token:
        dtokens = draft.array("norm.dy", B, N, D)
        places = draft.arrays["places"] if cache.hidden else None
        draft.add(pool_backward(dx, places, dtokens, config.prefix), "pooling backward")
        dx = dtokens.view(0, B * N, D)
    return add_and_norm_backward(draft, dx, cache.norm)
