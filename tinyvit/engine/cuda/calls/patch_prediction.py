"""The launches of kernels/corruption.cu and patch_targets.cu: hiding patches, and predicting them."""

from tinyvit.engine.cuda.calls.signature import THREADS, blocks, launch
from tinyvit.engine.cuda.launch import Buffer, Launch
from tinyvit.ops.corruption import MASKED_SHARE, SWAPPED_SHARE

_ROWS = 8  # of a block: ROWS of the kernels


def draw_corruption(
    keys: Buffer, site: int, chosen: Buffer, places: Buffer, source: Buffer, shows: Buffer
) -> Launch:
    """n of the T patches of each image are chosen (B, n); source (B, T) says what each shows, -1 for none.

    places (B, T) says as which of the n a patch was chosen: n or more if it was not. These are int32. shows
    (B, T, T), of activations, is source as a matrix. The keys are those of the three draws from `site` on.
    """
    (B, n), T = chosen.shape, source.shape[1]
    return launch(
        "corruption",
        f"draw_corruption<{shows.c_type}>",
        (B,),
        (THREADS,),
        (keys, site, MASKED_SHARE, MASKED_SHARE + SWAPPED_SHARE, chosen, places, source, shows, n, T),
        parts={keys.name: (keys.view(0, 1), keys.view(2 + 2 * site, 6))},
        shared_bytes=4 * T,
    )


def colour_classes(patches: Buffer, classes: Buffer, side: int, patch_size: int) -> Launch:
    """The colours of patches (R, P*P*C), float32, cut into side x side parts: classes (R*side*side,)."""
    channels = patches.shape[1] // patch_size**2
    grid, args = (blocks(classes.size, _ROWS),), (patches, classes, classes.size, side, patch_size, channels)
    return launch("patch_targets", "colour_classes", grid, (THREADS,), args)


def squared_error(
    y: Buffer, bias: Buffer, truth: Buffer, share: float, losses: Buffer, dy: Buffer, partials: Buffer
) -> Launch:
    """The mean squared error of y (R, C), which lacks its bias (C,), from truth (R, C), times share.

    losses (P,), for P = cross_entropy_partials(R), are parts of it, dy (R, C) is its gradient, and partials
    (P, C) has the column sums of that.
    """
    R, C = y.shape
    args = (y, bias, truth, share / y.size, losses, dy, partials, R, C)
    return launch("patch_targets", f"squared_error<{y.c_type}>", (losses.size,), (THREADS,), args)
