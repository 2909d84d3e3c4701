"""The launches of kernels/patches.cu: from images to patches."""

from __future__ import annotations

from math import prod

import numpy as np

from tinyvit.engine.cuda.calls.shapes import THREADS, blocks, vector_width
from tinyvit.engine.cuda.launch import Buffer, Launch


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
    return Launch(
        file="patches",
        function=f"make_patches<{patches.c_type}, {V}>",
        grid=(blocks(patches.size // V),),
        block=(THREADS,),
        args=(images, plan, erasing, mixing, patches, *map(np.int32, (B, S, H, W, patch_size))),
        reads=(images, *tables),
        writes=(patches,),
        # not the whole data set; of the next images only what is mixed, which nobody knows here
        moved=S * H * W * 3 + sum(table.nbytes for table in tables) + patches.nbytes,
    )


def patchify(images: Buffer, patches: Buffer, patch_size: int) -> Launch:
    """The patches (B*T, P*P*C) of normalised images, float32 (B, H, W, C)."""
    B, H, W, C = images.shape
    V = vector_width(patch_size * C, patches, images)
    return Launch(
        file="patches",
        function=f"patchify<{patches.c_type}, {V}>",
        grid=(blocks(prod(images.shape) // V),),
        block=(THREADS,),
        args=(images, patches, *map(np.int32, (B, H, W, C, patch_size))),
        reads=(images,),
        writes=(patches,),
    )
