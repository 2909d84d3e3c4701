"""Whole plans: a step of training, from the indices of a batch to new parameters; and inference.

At the end, the readout, forward and backward: from tokens to logits, as in model/vit.py.
"""

from dataclasses import replace
from typing import NamedTuple

from tinyvit.engine.cuda.calls.loss import (
    add_bias,
    add_losses,
    colour_classes,
    cross_entropy,
    cross_entropy_partials,
    squared_error,
)
from tinyvit.engine.cuda.calls.optimizer import to_bf16
from tinyvit.engine.cuda.calls.readout import (
    bias_tanh,
    bias_tanh_backward,
    mean_pool,
    pool_backward,
    take_rows,
    tanh_partials,
)
from tinyvit.engine.cuda.calls.sums import add_columns, column_jobs
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.plan.block import block, block_backward
from tinyvit.engine.cuda.plan.draft import Draft, Options, Plan
from tinyvit.engine.cuda.plan.residual import Norm, Sum, add_and_norm, add_and_norm_backward
from tinyvit.engine.cuda.plan.stem import Corruption, stem, stem_backward
from tinyvit.engine.cuda.plan.update import update_parameters
from tinyvit.model import ViTConfig
from tinyvit.objectives.masked_patches import SIDE


def plan_step(config: ViTConfig, batch: int, options: Options) -> Plan:
    """A step of training: loss and gradients of B images and, if the options say so, an update."""
    draft = Draft(config, batch, options)
    _round_weights(draft)
    x, of_stem = stem(draft)
    of_blocks = []
    for i in range(config.layers):
        x, cache = block(draft, i, x)
        of_blocks.append(cache)
    logits, of_readout = readout(draft, x, of_stem.corruption)
    if of_stem.corruption:
        losses, dlogits = _patch_loss(draft, logits, of_stem.exact, of_stem.corruption)
    else:
        losses, dlogits = _loss(draft, logits)
    draft.add(add_losses(losses, draft.outside("loss", 1), not options.fresh), "loss")
    dx, dbranch = readout_backward(draft, dlogits, of_readout)
    for i in reversed(range(config.layers)):
        dx, dbranch = block_backward(draft, i, dx, dbranch, of_blocks[i])
    stem_backward(draft, dx, of_stem)
    _add_partial_sums(draft)
    if options.update:
        update_parameters(draft)
    return draft.finish()


def plan_inference(config: ViTConfig, batch: int, options: Options, what: str = "logits") -> Plan:
    """The logits (B, C), or (B, n, C) of patches, float32; or features (B, D) or (B, F), as activations."""
    draft = Draft(config, batch, replace(options, trains=False, noise=False))
    _round_weights(draft)
    x, of_stem = stem(draft)
    for i in range(config.layers):
        x, _ = block(draft, i, x)
    if what == "features":
        return draft.finish(features_of(draft, x).features)
    logits, _ = readout(draft, x, of_stem.corruption)
    of_patches = (logits.shape[0] // batch,) if config.predicts_patches else ()
    result = draft.array("result", batch, *of_patches, config.classes, dtype="float32")
    draft.add(add_bias(logits, draft.parameters["head.bias"], result.view(0, *logits.shape)), "head")
    return draft.finish(result)


def _round_weights(draft: Draft) -> None:
    """Round all parameters to bfloat16, if products are to read them so.

    This costs 6 bytes for each parameter and step. In return, parameters that were changed from outside, by
    a checkpoint or by hand, are always seen.
    """
    if draft.dtype == "bfloat16":
        draft.add(to_bf16(draft.arrays["params"], draft.arrays["weights"]), "weights in bfloat16")


def _loss(draft: Draft, logits: Buffer) -> tuple[Buffer, Buffer]:
    """The losses of the images, and their gradient dlogits (B, C)."""
    options, (B, C) = draft.options, logits.shape
    if options.dataset:
        targets = draft.outside("labels", options.dataset[0], dtype="int32")
    elif options.soft:
        targets = draft.outside("targets", B, C)
    else:
        targets = draft.outside("targets", B, dtype="int32")
    losses = draft.array("losses", B, dtype="float32")
    dlogits = draft.array("dlogits", B, C)
    partials = draft.partials(cross_entropy_partials(B), C)
    bias, plan, mixing = draft.parameters["head.bias"], draft.arrays.get("plan"), draft.arrays.get("mixing")
    how = options.smoothing, options.share
    launch = cross_entropy(logits, bias, targets, plan, mixing, *how, losses, dlogits, partials)
    draft.add(launch, "cross-entropy")
    draft.sums_to("head.bias", partials)
    return losses, dlogits


def _patch_loss(draft: Draft, logits: Buffer, exact: Buffer, corruption: Corruption) -> tuple[Buffer, Buffer]:
    """Parts of the loss, and its gradient dlogits (B*n, C); exact are all patches (B*T, P*P*channels)."""
    config, options, bias = draft.config, draft.options, draft.parameters["head.bias"]
    (B, n), (R, C), T, pixels = corruption.chosen.shape, logits.shape, config.patches, exact.shape[1]
    truth = draft.array("truth", B, n, pixels, dtype="float32")
    draft.add(take_rows(exact.view(0, B, T, pixels), corruption.chosen, truth), "true patches")
    truth, dlogits = truth.view(0, R, pixels), draft.array("dlogits", R, C)
    P = cross_entropy_partials(R)
    partials = draft.partials(P, C)
    if options.target == "pixels":
        losses = draft.array("losses", P, dtype="float32")
        launch = squared_error(logits, bias, truth, options.share, losses, dlogits, partials)
    else:
        side = SIDE if options.target == "downsized" else 1
        G = side * side  # predictions for each patch
        classes = draft.array("colours", R * G, dtype="int32")
        draft.add(colour_classes(truth, classes, side, config.patch_size), "true colours")
        losses = draft.array("losses", R * G, dtype="float32")
        z, dz = (each.view(0, R * G, C // G) for each in (logits, dlogits))
        launch = cross_entropy(z, bias, classes, None, None, 0.0, options.share, losses, dz, partials)
    draft.add(launch, "loss of patches")
    draft.sums_to("head.bias", partials)
    return losses, dlogits


def _add_partial_sums(draft: Draft) -> None:
    """All sums over rows, in one launch."""
    jobs, grads = draft.constant("jobs", column_jobs(draft.sums)), draft.arrays["grads"]
    adds = not draft.options.fresh
    launch = add_columns(jobs, draft.all_partials(), grads, draft.sums, adds)
    draft.add(launch, "gradients of vectors")


class Readout(NamedTuple):
    """The cache of the readout: the final LayerNorm, its result pooled, the input of the tanh, features."""

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
