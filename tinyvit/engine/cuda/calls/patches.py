"""The launches of kernels/patches.cu: from images to patches."""

from __future__ import annotations

from math import prod

import numpy as np

from tinyvit.engine.cuda.calls.shapes import THREADS, blocks, vector_width
from tinyvit.engine.cuda.launch import Buffer, Launch


def make_patches(images: Buffer, plan: Buffer, patches: Buffer, patch_size: int) -> Launch:
    """The patches of the images that a plan chooses, cropped, mirrored and normalised.

    images uint8 (n, H, W, 3), the data set; plan int32 (4, B): indices, down, right and flip of a BatchPlan;
    patches (B*T, P*P*3). H and W are multiples of the patch size.
    """
    _, H, W, _ = images.shape
    B = plan.shape[1]
    V = vector_width(patch_size * patch_size * 3, patches)
    return Launch(
        file="patches",
        function=f"make_patches<{patches.c_type}, {V}>",
        grid=(blocks(patches.size // V),),
        block=(THREADS,),
        args=(images, plan, patches, *map(np.int32, (B, H, W, patch_size))),
        reads=(images, plan),
        writes=(patches,),
        moved=B * H * W * 3 + plan.nbytes + patches.nbytes,  # not the whole data set
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
