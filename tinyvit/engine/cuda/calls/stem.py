"""The launches of kernels/patches.cu and tokens.cu: from images to patches, and from patches to tokens."""

from collections.abc import Mapping
from math import prod

from tinyvit.engine.cuda.calls.noise import Mask, mask_arguments, mask_parts
from tinyvit.engine.cuda.calls.signature import THREADS, blocks, chunks, launch, vector_width
from tinyvit.engine.cuda.calls.sums import ColumnSum
from tinyvit.engine.cuda.launch import Buffer, Launch

_MOST_CHUNKS = 32  # of a batch: many enough for every processor to have work, few enough to be summed quickly


def make_patches(
    images: Buffer,
    plan: Buffer,
    erasing: Buffer | None,
    mixing: Buffer | None,
    patches: Buffer,
    patch_size: int,
) -> Launch:
    """The patches of the images that a plan chooses, cropped, mirrored, normalised, erased and mixed.

    images uint8 (n, H, W, 3), the data set; plan int32 (4, S): indices, down, right and flip of a BatchPlan;
    patches (B*T, P*P*3). H and W are multiples of the patch size. S is B or, with mixing, B + 1: see the
    tables of uploads.py for erasing (5, S) and mixing (6, B), both int32.
    """
    _, H, W, _ = images.shape
    S = plan.shape[1]
    B = S if mixing is None else S - 1
    tables = [table for table in (plan, erasing, mixing and mixing.view(0, 5, B)) if table]
    V = vector_width(patch_size * patch_size * 3, patches)
    return launch(
        "patches",
        f"make_patches<{patches.c_type}, {V}>",
        (blocks(patches.size // V),),
        (THREADS,),
        (images, plan, erasing, mixing, patches, B, S, H, W, patch_size),
        # not the whole data set; of the next images only what is mixed, which nobody knows here
        moved=S * H * W * 3 + sum(table.nbytes for table in tables) + patches.nbytes,
    )


def patchify(images: Buffer, patches: Buffer, patch_size: int) -> Launch:
    """The patches (B*T, P*P*C) of normalised images, float32 (B, H, W, C)."""
    B, H, W, C = images.shape
    V = vector_width(patch_size * C, patches, images)
    grid, args = (blocks(prod(images.shape) // V),), (images, patches, B, H, W, C, patch_size)
    return launch("patches", f"patchify<{patches.c_type}, {V}>", grid, (THREADS,), args)


def add_tokens(
    product: Buffer,
    patch_bias: Buffer,
    others: Buffer | None,
    positions: tuple[Buffer, ...],
    placed: int,
    source: Buffer | None,
    mask_token: Buffer | None,
    mask: Mask | None,
    x: Buffer,
) -> Launch:
    """Tokens x (B, N, D) of the embedded patches, product (B*T, D), which lacks its bias (D,).

    others (N - T, D) come first, if there are any. positions are none, or a table (placed + T, D) for the
    first `placed` tokens and the patches, or two, for the rows of patches and for the columns (across, D/2).
    source (B, T), int32, says which patch is shown where, with mask_token (D,) for those that are masked. The
    mask is dropout's.
    """
    (B, N, D), (table, columns) = x.shape, (*positions, None, None)[:2]
    across = columns.shape[0] if columns else 1
    V = vector_width(D // 2 if columns else D, x, product, patch_bias, others, table, columns, mask_token)
    return launch(
        "tokens",
        f"add_tokens<{x.c_type}, {V}>",
        (blocks(x.size // V),),
        (THREADS,),
        (
            *(product, patch_bias, others, table, columns, source, mask_token),
            *(*mask_arguments(mask), x, B, N, D, N - product.shape[0] // B, placed, across),
        ),
        parts=mask_parts(mask),
    )


def add_tokens_backward(
    dx: Buffer, mask: Mask | None, source: Buffer | None, dpatches: Buffer, partials: Buffer
) -> Launch:
    """Gradient dpatches (B*T, D) of the patches as shown, from dx (B, N, D), and sums over the images.

    partials float32 (P, N*D), for P = token_partials(B), is added to the gradients by token_jobs; with a
    source, (P, (N+T)*D).
    """
    B, N, D = dx.shape
    before = N - dpatches.shape[0] // B
    P, chunk = chunks(B, _MOST_CHUNKS)
    V = vector_width(D, dx, dpatches, partials)
    return launch(
        "tokens",
        f"add_tokens_backward<{dx.c_type}, {V}, {str(source is not None).lower()}>",
        (blocks(N * D // V), P),
        (THREADS,),
        (dx, *mask_arguments(mask), source, dpatches, partials, B, N, D, before, chunk),
        parts=mask_parts(mask),
    )


def token_partials(images: int) -> int:
    """P of add_tokens_backward: into how many chunks it cuts a batch of that many images."""
    return chunks(images, _MOST_CHUNKS)[0]


def token_jobs(
    partials: Buffer, width: int, patches: int, placed: int, starts: Mapping[str, int]
) -> list[ColumnSum]:
    """What is to be added to the gradients after add_tokens_backward.

    partials is that launch's, width is D, patches T, and placed as in add_tokens; starts says where gradients
    start: of patch.bias and, if the model has them, of mask_token, others and position.
    """
    P, D, T = partials.shape[0], width, patches
    parts = 2 if "mask_token" in starts else 1
    before = partials.shape[1] // D - parts * T
    start, of_patches = partials.start, P * T * D
    others = start + parts * of_patches
    sums = [ColumnSum(start, P * T, D, starts["patch.bias"], D)]
    if "mask_token" in starts:
        sums.append(ColumnSum(start + of_patches, P * T, D, starts["mask_token"], D))
    if "position" in starts:
        place = starts["position"]
        sums.append(ColumnSum(start, parts * P, T * D, place + placed * D, T * D))
        sums.append(ColumnSum(others, P, placed * D, place, before * D))
    if "others" in starts:
        sums.append(ColumnSum(others, P, before * D, starts["others"], before * D))
    return sums
