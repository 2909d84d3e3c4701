"""Hiding patches and predicting them in a plan, as in ops/corruption.py and objectives/masked_patches.py."""

from typing import NamedTuple

from tinyvit.engine.cuda.calls.cross_entropy import cross_entropy, cross_entropy_partials
from tinyvit.engine.cuda.calls.patch_prediction import colour_classes, draw_corruption, squared_error
from tinyvit.engine.cuda.calls.readout import take_rows
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.plan.draft import Draft
from tinyvit.objectives.patch_targets import SIDE
from tinyvit.ops.corruption import corrupted_patches


class Corruption(NamedTuple):
    """Which patches are corrupted, (B, n), and what each shows, (B, T): see calls.patch_prediction."""

    chosen: Buffer
    source: Buffer


def corrupt(draft: Draft) -> Corruption | None:
    """The corruption of a batch: drawn, if the model learns to predict patches; else as given, if any."""
    B, T, options = draft.batch, draft.config.patches, draft.options
    n = corrupted_patches(options.corrupt, T) if options.trains else options.given
    if not (draft.config.predicts_patches and n):
        return None
    if not options.trains:
        sizes = {"given.chosen": n, "given.source": T}
        return Corruption(*(draft.outside(name, B, size, dtype="int32") for name, size in sizes.items()))
    sizes = {"chosen": n, "places": T, "source": T}
    chosen, places, source = (draft.array(name, B, size, dtype="int32") for name, size in sizes.items())
    launch = draw_corruption(
        draft.keys, draft.draws(3), chosen, places, source, draft.array("shows", B, T, T)
    )
    draft.add(launch, "corruption")
    return Corruption(chosen, source)


def patch_loss(draft: Draft, logits: Buffer, exact: Buffer, corruption: Corruption) -> tuple[Buffer, Buffer]:
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
