"""The launches of patches.cu and tokens.cu: patches, those hidden, and tokens."""

from collections.abc import Mapping

from tinyvit.engine.cuda.calls.noise import Mask, mask_arguments, mask_parts
from tinyvit.engine.cuda.calls.signature import blocks, chunks, launch, vector_width
from tinyvit.engine.cuda.calls.sums import ColumnSum
from tinyvit.engine.cuda.launch import Buffer, Launch
from tinyvit.ops.corruption import MASKED_SHARE, SWAPPED_SHARE

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
        f"make_patches<{patches.c_type}, {V}>",
        blocks(patches.size // V),
        (images, plan, erasing, mixing, patches, B, S, H, W, patch_size),
        # not the whole data set; of the next images only what is mixed, which is not known here
        moved=S * H * W * 3 + sum(table.nbytes for table in tables) + patches.nbytes,
    )


def patchify(images: Buffer, patches: Buffer, patch_size: int) -> Launch:
    """The patches (B*T, P*P*C) of normalised images, float32 (B, H, W, C)."""
    B, H, W, C = images.shape
    V = vector_width(patch_size * C, patches, images)
    args = images, patches, B, H, W, C, patch_size
    return launch(f"patchify<{patches.c_type}, {V}>", blocks(images.size // V), args)


def draw_corruption(
    keys: Buffer, site: int, chosen: Buffer, places: Buffer, source: Buffer, shows: Buffer
) -> Launch:
    """n of the T patches of each image are chosen (B, n); source (B, T) says what each shows, -1 for none.

    places (B, T) says as which of the n a patch was chosen: n or more if it was not. These are int32. shows
    (B, T, T), of activations, is source as a matrix. The keys are those of the three draws from `site` on.
    """
    (B, n), T = chosen.shape, source.shape[1]
    return launch(
        f"draw_corruption<{shows.c_type}>",
        B,
        (keys, site, MASKED_SHARE, MASKED_SHARE + SWAPPED_SHARE, chosen, places, source, shows, n, T),
        parts={keys.name: (keys.view(0, 1), keys.view(2 + 2 * site, 6))},
        shared_bytes=4 * T,
    )


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
    inputs = product, patch_bias, others, table, columns, source, mask_token, *mask_arguments(mask)
    args = *inputs, x, B, N, D, N - product.shape[0] // B, placed, across
    return launch(f"add_tokens<{x.c_type}, {V}>", blocks(x.size // V), args, parts=mask_parts(mask))


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
        f"add_tokens_backward<{dx.c_type}, {V}, {str(source is not None).lower()}>",
        (blocks(N * D // V), P),
        (dx, *mask_arguments(mask), source, dpatches, partials, B, N, D, before, chunk),
        parts=mask_parts(mask),
    )


def token_partials(images: int) -> int:
    """P of add_tokens_backward: into how many chunks it cuts a batch of that many images."""
    return chunks(images, _MOST_CHUNKS)[0]


def token_jobs(
    partials: Buffer, width: int, patches: int, placed: int, starts: Mapping[str, int]
) -> list[ColumnSum]:
    """The sums to be added to the gradients after add_tokens_backward.

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
