"""The stem in a plan, forward and backward: from pixels to tokens, as in model/stem.py."""

from typing import NamedTuple

import numpy as np

from tinyvit import ops
from tinyvit.engine.cuda.calls.augment import ROWS, augment
from tinyvit.engine.cuda.calls.noise import Mask
from tinyvit.engine.cuda.calls.stem import (
    add_tokens,
    add_tokens_backward,
    make_patches,
    patchify,
    token_jobs,
    token_partials,
)
from tinyvit.engine.cuda.launch import Buffer, Launch
from tinyvit.engine.cuda.plan.draft import Draft
from tinyvit.engine.cuda.plan.residual import Sum


class Stem(NamedTuple):
    """What the backward needs."""

    patches: Buffer
    mask: Mask | None


def stem(draft: Draft) -> tuple[Sum, Stem]:
    """Tokens (B*N, D) of the batch."""
    config, B = draft.config, draft.batch
    T, N, D = config.patches, config.tokens, config.width
    patches = draft.array("patches", B * T, config.patch_size**2 * config.channels)
    draft.add(_cut(draft, patches), "patches")
    product = draft.linear(patches, "patch.weight", "patch.product")  # (B*T, D)
    mask = draft.mask(config.dropout, 0.0, N)
    x = draft.array("tokens", B, N, D)
    launch = add_tokens(
        product,
        draft.parameters["patch.bias"],
        draft.parameters["class_token"] if config.has_token else None,
        _positions(draft),
        mask,
        x,
    )
    draft.add(launch, "tokens")
    return Sum(x.view(0, B * N, D)), Stem(patches, mask)


def stem_backward(draft: Draft, dx: Buffer, cache: Stem) -> None:
    """The gradients of the stem's parameters, given dx (B*N, D)."""
    config, B = draft.config, draft.batch
    T, N, D = config.patches, config.tokens, config.width
    starts = {name: buffer.start for name, buffer in draft.grads.items()}
    dproduct = draft.array("patch.dproduct", B * T, D)
    partials = draft.partials(token_partials(B), N * D)
    draft.add(add_tokens_backward(dx.view(0, B, N, D), cache.mask, dproduct, partials), "tokens backward")
    where = starts["patch.bias"], starts.get("class_token"), starts.get("position")
    draft.sums += token_jobs(partials, D, *where)
    draft.linear_backward(dproduct, cache.patches, "patch.weight", None)


def _cut(draft: Draft, patches: Buffer) -> Launch:
    """The launch that makes the patches, of images of the data set or of given ones."""
    config, B, options = draft.config, draft.batch, draft.options
    if options.dataset:
        images = draft.outside("images", *options.dataset, dtype="uint8")
        planned = B + options.mixing  # the image after the last, too
        plan = draft.outside("plan", 4, planned, dtype="int32")
        erasing = draft.outside("erasing", 5, planned, dtype="int32") if options.erasing else None
        mixing = draft.outside("mixing", 6, B, dtype="int32") if options.mixing else None
        if options.operations:
            images, plan = _augmented(draft, images, plan)
        return make_patches(images, plan, erasing, mixing, patches, config.patch_size)
    pixels = draft.outside("pixels", B, *config.image_size, config.channels)
    return patchify(pixels, patches, config.patch_size)


def _augmented(draft: Draft, images: Buffer, plan: Buffer) -> tuple[Buffer, Buffer]:
    """The planned images after their operations, and a plan that takes all of them as they are."""
    planned = plan.shape[1]
    operations = draft.outside("operations", draft.options.operations, ROWS, planned, dtype="int32")
    augmented = draft.array("augmented", planned, *images.shape[1:], dtype="uint8")
    draft.add(augment(images, plan, operations, augmented), "augmentation")
    as_they_are = np.zeros((4, planned), np.int32)
    as_they_are[0] = np.arange(planned)
    return augmented, draft.constant("as_they_are", as_they_are)


def _positions(draft: Draft) -> Buffer | None:
    """The table (N, D) that is added to the tokens, if there is one."""
    config = draft.config
    if config.position == "1d":
        return draft.parameters["position"]
    if config.position == "sincos":
        table = ops.positions_sincos(config.grid, config.width).astype(np.float32)
        return draft.constant("position", np.pad(table, ((int(config.has_token), 0), (0, 0))))
    return None
