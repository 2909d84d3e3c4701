"""The launches of kernels/tokens.cu: class token, position embedding and dropout of the stem."""

from __future__ import annotations

import numpy as np

from tinyvit.engine.cuda.calls.noise import Mask, mask_arguments
from tinyvit.engine.cuda.calls.shapes import THREADS, blocks, chunks, vector_width
from tinyvit.engine.cuda.calls.sums import ColumnSum
from tinyvit.engine.cuda.launch import Buffer, Launch

_MOST_CHUNKS = 32  # of a batch: many enough for every processor to have work, few enough to be summed quickly


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
    inputs = (product, patch_bias, class_token, position)
    return Launch(
        file="tokens",
        function=f"add_tokens<{x.c_type}, {V}>",
        grid=(blocks(x.size // V),),
        block=(THREADS,),
        args=(*inputs, *mask_arguments(mask), x, np.int32(B), np.int32(N), np.int32(D)),
        reads=(*(buffer for buffer in inputs if buffer is not None), *(mask.reads if mask else ())),
        writes=(x,),
    )


def add_tokens_backward(dx: Buffer, mask: Mask | None, dproduct: Buffer, partials: Buffer) -> Launch:
    """Gradient dproduct (B*T, D) of the embedded patches, from dx (B, N, D), and sums over the images.

    partials float32 (P, N*D), for P = token_partials(B), is added to the gradients by token_jobs.
    """
    B, N, D = dx.shape
    before = N - dproduct.shape[0] // B  # 1 with a class token, or 0
    P, chunk = chunks(B, _MOST_CHUNKS)
    V = vector_width(D, dx, dproduct, partials)
    return Launch(
        file="tokens",
        function=f"add_tokens_backward<{dx.c_type}, {V}>",
        grid=(blocks(N * D // V), P),
        block=(THREADS,),
        args=(
            dx,
            *mask_arguments(mask),
            dproduct,
            partials,
            *map(np.int32, (B, N, D, before, chunk)),
        ),
        reads=(dx, *(mask.reads if mask else ())),
        writes=(dproduct, partials),
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
