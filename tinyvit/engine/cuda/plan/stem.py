"""The stem in a plan, forward and backward: from pixels to tokens, as in model/vit.py."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tinyvit import ops
from tinyvit.engine.cuda.calls.augment import ROWS, augment
from tinyvit.engine.cuda.calls.noise import Mask
from tinyvit.engine.cuda.calls.optimizer import to_bf16
from tinyvit.engine.cuda.calls.stem import (
    add_tokens,
    add_tokens_backward,
    draw_corruption,
    make_patches,
    patchify,
    token_jobs,
    token_partials,
)
from tinyvit.engine.cuda.calls.sums import ColumnSum, add_columns, column_jobs
from tinyvit.engine.cuda.launch import Buffer, Launch, Product
from tinyvit.engine.cuda.plan.draft import Draft
from tinyvit.engine.cuda.plan.residual import Sum
from tinyvit.ops.corruption import corrupted_patches


class Corruption(NamedTuple):
    """The patches that are corrupted, (B, n), and what each shows, (B, T): see calls.stem."""

    chosen: Buffer
    source: Buffer


class Stem(NamedTuple):
    """The cache of the stem; and, for the loss of a model that predicts patches, these in float32."""

    patches: Buffer
    mask: Mask | None
    corruption: Corruption | None
    exact: Buffer


def stem(draft: Draft) -> tuple[Sum, Stem]:
    """Tokens (B*N, D) of the batch."""
    config, B = draft.config, draft.batch
    T, N, D = config.patches, config.tokens, config.width
    corruption = _corruption(draft)
    shape = B * T, config.patch_size**2 * config.channels
    patches = exact = draft.array("patches", *shape, dtype="float32" if corruption else None)
    draft.add(_cut(draft, patches), "patches")
    if patches.dtype != draft.dtype:
        patches = draft.array("patches.rounded", *shape)
        draft.add(to_bf16(exact, patches), "patches")
    product = draft.linear(patches, "patch.weight", "patch.product")  # (B*T, D)
    mask = draft.mask(config.dropout, 0.0, N)
    x = draft.array("tokens", B, N, D)
    bias, others = draft.parameters["patch.bias"], _others(draft, draft.parameters)
    placed = config.position_rows if config.position == "1d" else 0
    source, mask_token = None, None
    if corruption:
        source, mask_token = corruption.source, draft.parameters["mask_token"]
    launch = add_tokens(product, bias, others, _positions(draft), placed, source, mask_token, mask, x)
    draft.add(launch, "tokens")
    return Sum(x.view(0, B * N, D)), Stem(patches, mask, corruption, exact)


def stem_backward(draft: Draft, dx: Buffer, cache: Stem) -> None:
    """The gradients of the stem's parameters, given dx (B*N, D)."""
    config, B = draft.config, draft.batch
    T, N, D = config.patches, config.tokens, config.width
    corruption = cache.corruption
    starts = {name: buffer.start for name, buffer in draft.grads.items()}
    if others := _others(draft, draft.grads):
        starts["others"] = others.start
    dproduct = draft.array("patch.dproduct", B * T, D)
    partials = draft.partials(token_partials(B), (N + T if corruption else N) * D)
    source = corruption and corruption.source
    launch = add_tokens_backward(dx.view(0, B, N, D), cache.mask, source, dproduct, partials)
    draft.add(launch, "tokens backward")
    draft.sums += token_jobs(partials, D, T, config.position_rows, starts)
    if config.position == "2d":
        _positions_2d_backward(draft, partials)
    if corruption:  # to the patches that were shown
        dshown, dproduct = dproduct.view(0, B, T, D), draft.array("patch.dcorrupted", B * T, D)
        product = Product(draft.arrays["shows"], dshown, dproduct.view(0, B, T, D), transpose_a=True)
        draft.add(product, "corruption backward")
    draft.linear_backward(dproduct, cache.patches, "patch.weight", None)


def _corruption(draft: Draft) -> Corruption | None:
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


def _others(draft: Draft, named: dict[str, Buffer]) -> Buffer | None:
    """The learned tokens (prefix, D) before the patches, or their gradients: in memory, too, one follows
    the other."""
    first = named.get("class_token", named.get("registers"))
    return first and replace(first, shape=(draft.config.prefix, draft.config.width))


def _positions(draft: Draft) -> tuple[Buffer, ...]:
    """The tables that are added to the tokens: see add_tokens."""
    if draft.config.position == "sincos":
        table = ops.positions_sincos(draft.config.grid, draft.config.width).astype(np.float32)
        return (draft.constant("position", table),)
    names = ("position", "position.rows", "position.columns")
    return tuple(draft.parameters[name] for name in names if name in draft.parameters)


def _positions_2d_backward(draft: Draft, partials: Buffer) -> None:
    """The gradients of both tables, from sums (P, N*D) over the images: those of the patches come first."""
    (gh, gw), T, D = draft.config.grid, draft.config.patches, draft.config.width
    P = partials.shape[0] * (2 if draft.config.predicts_patches else 1)
    table, sums = draft.partials(T, D), [ColumnSum(0, P, T * D, 0, T * D)]
    jobs = draft.constant("position.jobs", column_jobs(sums))
    launch = add_columns(jobs, partials.view(0, P * T * D), table, sums, accumulate=False)
    draft.add(launch, "positions backward")
    rows, columns = (draft.grads[f"position.{name}"].start for name in ("rows", "columns"))
    half = D // 2
    draft.sums += [ColumnSum(table.start + r * gw * D, gw, half, rows + r * half, D) for r in range(gh)]
    draft.sums += [
        ColumnSum(table.start + c * D + half, gh, half, columns + c * half, gw * D) for c in range(gw)
    ]
