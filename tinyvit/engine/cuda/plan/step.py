"""Whole plans: a step of training, from the indices of a batch to new parameters; and inference."""

from dataclasses import replace

from tinyvit.engine.cuda.calls.cross_entropy import (
    add_bias,
    add_losses,
    cross_entropy,
    cross_entropy_partials,
)
from tinyvit.engine.cuda.calls.optimizer import to_bf16
from tinyvit.engine.cuda.calls.sums import add_columns, column_jobs
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.plan.draft import Draft, Plan
from tinyvit.engine.cuda.plan.options import Options
from tinyvit.engine.cuda.plan.patch_prediction import patch_loss
from tinyvit.engine.cuda.plan.update import update_parameters
from tinyvit.engine.cuda.plan.vit import backward, features, forward, infer
from tinyvit.model import ViTConfig


def plan_step(config: ViTConfig, batch: int, options: Options) -> Plan:
    """A step of training: loss and gradients of B images and, if the options say so, an update."""
    draft = Draft(config, batch, options)
    _round_weights(draft)
    logits, cache = forward(draft)
    if cache.stem.corruption:
        losses, dlogits = patch_loss(draft, logits, cache.stem.exact, cache.stem.corruption)
    else:
        losses, dlogits = _loss(draft, logits)
    draft.add(add_losses(losses, draft.outside("loss", 1), not options.fresh), "loss")
    backward(draft, dlogits, cache)
    _add_partial_sums(draft)
    if options.update:
        update_parameters(draft)
    return draft.finish()


def plan_inference(config: ViTConfig, batch: int, options: Options, what: str = "logits") -> Plan:
    """The logits (B, C), or (B, n, C) of patches, float32; or features (B, D) or (B, F), as activations."""
    draft = Draft(config, batch, replace(options, trains=False, noise=False))
    _round_weights(draft)
    if what == "features":
        return draft.finish(features(draft))
    logits = infer(draft)
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
    launch = cross_entropy(
        logits,
        draft.parameters["head.bias"],
        targets,
        draft.arrays.get("plan"),
        draft.arrays.get("mixing"),
        options.smoothing,
        options.share,
        losses,
        dlogits,
        partials,
    )
    draft.add(launch, "cross-entropy")
    draft.sums_to("head.bias", partials)
    return losses, dlogits


def _add_partial_sums(draft: Draft) -> None:
    """All sums over rows, in one launch."""
    jobs, grads = draft.constant("jobs", column_jobs(draft.sums)), draft.arrays["grads"]
    adds = not draft.options.fresh
    launch = add_columns(jobs, draft.all_partials(), grads, jobs.shape[0], draft.sums, adds)
    draft.add(launch, "gradients of vectors")
