"""The launches of kernels/patches.cu and tokens.cu: from images to patches, and from patches to tokens."""

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
    class_token: Buffer | None,
    position: Buffer | None,
    mask: Mask | None,
    x: Buffer,
) -> Launch:
    """Tokens x (B, N, D) of the embedded patches, product (B*T, D), which lacks its bias (D,).

    class_token (D,) comes first, if there is one; position (N, D) is added to every token, and the mask is
    dropout's.
    """
    B, N, D = x.shape
    V = vector_width(D, x, product, patch_bias, class_token, position)
    return launch(
        "tokens",
        f"add_tokens<{x.c_type}, {V}>",
        (blocks(x.size // V),),
        (THREADS,),
        (product, patch_bias, class_token, position, *mask_arguments(mask), x, B, N, D),
        parts=mask_parts(mask),
    )


def add_tokens_backward(dx: Buffer, mask: Mask | None, dproduct: Buffer, partials: Buffer) -> Launch:
    """Gradient dproduct (B*T, D) of the embedded patches, from dx (B, N, D), and sums over the images.

    partials float32 (P, N*D), for P = token_partials(B), is added to the gradients by token_jobs.
    """
    B, N, D = dx.shape
    before = N - dproduct.shape[0] // B  # 1 with a class token, or 0
    P, chunk = chunks(B, _MOST_CHUNKS)
    V = vector_width(D, dx, dproduct, partials)
    return launch(
        "tokens",
        f"add_tokens_backward<{dx.c_type}, {V}>",
        (blocks(N * D // V), P),
        (THREADS,),
        (dx, *mask_arguments(mask), dproduct, partials, B, N, D, before, chunk),
        parts=mask_parts(mask),
    )


def token_partials(images: int) -> int:
    """P of add_tokens_backward: into how many chunks it cuts a batch of that many images."""
    return chunks(images, _MOST_CHUNKS)[0]


def token_jobs(
    partials: Buffer, width: int, patch_bias: int, class_token: int | None, position: int | None
) -> list[ColumnSum]:
    """What is to be added to the gradients after add_tokens_backward.

    partials is that launch's, width is D; the others say where the gradients start, None for what the model
    does not have.
    """
    P, D = partials.shape[0], width
    T = partials.shape[1] // D - (class_token is not None)
    start = partials.start  # the sums of the patches; those of the class token follow them
    token_start = start + P * T * D
    sums = [ColumnSum(start, P * T, D, patch_bias, D)]
    if position is not None:
        patches = position if class_token is None else position + D
        sums.append(ColumnSum(start, P, T * D, patches, T * D))
    if class_token is not None:
        sums.append(ColumnSum(token_start, P, D, class_token, D))
        if position is not None:
            sums.append(ColumnSum(token_start, P, D, position, D))
    return sums
