"""The launches of kernels/tanh.cu: bias and tanh of the pre_logits layer."""

from __future__ import annotations

import numpy as np

from tinyvit.engine.cuda.calls.shapes import THREADS, blocks, chunks, vector_width
from tinyvit.engine.cuda.launch import Buffer, Launch

_MOST_CHUNKS = 128  # of the rows: there are few columns, so that many chunks keep the processors busy


def bias_tanh(h: Buffer, bias: Buffer, y: Buffer) -> Launch:
    """y = tanh(h + bias): h and y (R, F), bias (F,)."""
    R, F = h.shape
    V = vector_width(F, h, bias, y)
    return Launch(
        file="tanh",
        function=f"bias_tanh<{h.c_type}, {V}>",
        grid=(blocks(h.size // V),),
        block=(THREADS,),
        args=(h, bias, y, np.int32(R), np.int32(F)),
        reads=(h, bias),
        writes=(y,),
    )


def bias_tanh_backward(dy: Buffer, h: Buffer, bias: Buffer, dh: Buffer, partials: Buffer) -> Launch:
    """dh (R, F) from dy, h and bias; its column sums in parts, float32 (P, F), for P = tanh_partials(R)."""
    R, F = dy.shape
    V = vector_width(F, dy, h, bias, dh, partials)
    P, chunk = chunks(R, _MOST_CHUNKS)
    threads = 64
    return Launch(
        file="tanh",
        function=f"bias_tanh_backward<{dy.c_type}, {V}>",
        grid=(blocks(F // V, threads), P),
        block=(threads,),
        args=(dy, h, bias, dh, partials, np.int32(R), np.int32(F), np.int32(chunk)),
        reads=(dy, h, bias),
        writes=(dh, partials),
    )


def tanh_partials(rows: int) -> int:
    """P of bias_tanh_backward: into how many chunks it cuts that many rows."""
    return chunks(rows, _MOST_CHUNKS)[0]
