"""Whole plans: a step of training, from the indices of a batch to new parameters; and inference."""

from dataclasses import replace

from tinyvit.engine.cuda.calls.loss import (
    add_bias,
    add_losses,
    colour_classes,
    cross_entropy,
    cross_entropy_partials,
    squared_error,
)
from tinyvit.engine.cuda.calls.optimizer import to_bf16
from tinyvit.engine.cuda.calls.readout import take_rows
from tinyvit.engine.cuda.calls.sums import add_columns, column_jobs
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.plan.block import block, block_backward
from tinyvit.engine.cuda.plan.draft import Draft, Options, Plan
from tinyvit.engine.cuda.plan.readout import features_of, readout, readout_backward
from tinyvit.engine.cuda.plan.stem import Corruption, stem, stem_backward
from tinyvit.engine.cuda.plan.update import update_parameters
from tinyvit.model import ViTConfig
from tinyvit.objectives.patch_targets import SIDE


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
