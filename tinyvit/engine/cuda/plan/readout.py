"""The readout in a plan, forward and backward: from tokens to logits, as in model/readout.py."""

from typing import NamedTuple

from tinyvit.engine.cuda.calls.readout import (
    bias_tanh,
    bias_tanh_backward,
    mean_pool,
    mean_pool_backward,
    tanh_partials,
)
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.plan.draft import Draft
from tinyvit.engine.cuda.plan.residual import Norm, Sum, add_and_norm, add_and_norm_backward


class Readout(NamedTuple):
    """What the backward needs: the final LayerNorm, its result pooled, the input of the tanh, features."""

    norm: Norm
    pooled: Buffer
    h: Buffer | None
    features: Buffer


def features_of(draft: Draft, tokens: Sum) -> Readout:
    """Features (B, D), or (B, F) after the tanh layer, of the tokens that leave the last block."""
    config, B, D = draft.config, draft.batch, draft.config.width
    norm = add_and_norm(draft, tokens, "norm")
    pooled = norm.y  # (B, D): where the head reads the class token, no other has left the last block
    if not config.has_token:
        pooled = draft.array("pooled", B, D)
        draft.add(mean_pool(norm.y.view(0, B, config.patches, D), pooled), "pooling")
    if not config.pre_logits:
        return Readout(norm, pooled, None, pooled)
    h = draft.linear(pooled, "pre_logits.weight", "pre_logits.h")  # (B, F)
    features = draft.array("features", *h.shape)
    draft.add(bias_tanh(h, draft.parameters["pre_logits.bias"], features), "pre_logits")
    return Readout(norm, pooled, h, features)


def readout(draft: Draft, tokens: Sum) -> tuple[Buffer, Readout]:
    """Logits (B, C), without the bias, of the tokens that leave the last block."""
    cache = features_of(draft, tokens)
    return draft.linear(cache.features, "head.weight", "logits"), cache


def readout_backward(draft: Draft, dlogits: Buffer, cache: Readout) -> tuple[Buffer, Buffer]:
    """Gradients of the tokens that leave the last block, and of the branch in their sum, given dlogits."""
    config, B, D = draft.config, draft.batch, draft.config.width
    dx = draft.linear_backward(dlogits, cache.features, "head.weight", "dfeatures")  # (B, D) or (B, F)
    if config.pre_logits:
        dh = draft.array("pre_logits.dh", *dx.shape)
        partials = draft.partials(tanh_partials(B), config.pre_logits)
        bias = draft.parameters["pre_logits.bias"]
        draft.add(bias_tanh_backward(dx, cache.h, bias, dh, partials), "pre_logits backward")
        draft.sums_to("pre_logits.bias", partials)
        dx = draft.linear_backward(dh, cache.pooled, "pre_logits.weight", "dpooled")  # (B, D)
    if not config.has_token:
        dtokens = draft.array("norm.dy", B, config.patches, D)
        draft.add(mean_pool_backward(dx, dtokens), "pooling backward")
        dx = dtokens.view(0, B * config.patches, D)
    return add_and_norm_backward(draft, dx, cache.norm)
