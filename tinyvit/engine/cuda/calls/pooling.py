"""The launches of kernels/pooling.cu: the mean of an image's tokens."""

from __future__ import annotations

import numpy as np

from tinyvit.engine.cuda.calls.shapes import THREADS, blocks, vector_width
from tinyvit.engine.cuda.launch import Buffer, Launch


def mean_pool(y: Buffer, pooled: Buffer) -> Launch:
    """The mean over the tokens: y (B, N, D) to pooled (B, D)."""
    B, N, D = y.shape
    V = vector_width(D, y, pooled)
    return Launch(
        file="pooling",
        function=f"mean_pool<{y.c_type}, {V}>",
        grid=(blocks(D, 32 * V), B),
        block=(32, 8),
        args=(y, pooled, np.int32(N), np.int32(D)),
        reads=(y,),
        writes=(pooled,),
    )


def mean_pool_backward(dpooled: Buffer, dy: Buffer) -> Launch:
    """Its gradient: dpooled (B, D) to dy (B, N, D)."""
    B, N, D = dy.shape
    V = vector_width(D, dy, dpooled)
    return Launch(
        file="pooling",
        function=f"mean_pool_backward<{dy.c_type}, {V}>",
        grid=(blocks(dy.size // V),),
        block=(THREADS,),
        args=(dpooled, dy, np.int32(B), np.int32(N), np.int32(D)),
        reads=(dpooled,),
        writes=(dy,),
    )
