"""The launches of kernels/tanh.cu and pooling.cu: the pre_logits layer, and the mean of an image's tokens."""

from tinyvit.engine.cuda.calls.signature import THREADS, blocks, chunks, launch, vector_width
from tinyvit.engine.cuda.launch import Buffer, Launch

_MOST_CHUNKS = 128  # of the rows: there are few columns, so that many chunks keep the processors busy


def bias_tanh(h: Buffer, bias: Buffer, y: Buffer) -> Launch:
    """y = tanh(h + bias): h and y (R, F), bias (F,)."""
    R, F = h.shape
    V = vector_width(F, h, bias, y)
    return launch(
        "tanh", f"bias_tanh<{h.c_type}, {V}>", (blocks(h.size // V),), (THREADS,), (h, bias, y, R, F)
    )


def bias_tanh_backward(dy: Buffer, h: Buffer, bias: Buffer, dh: Buffer, partials: Buffer) -> Launch:
    """dh (R, F) from dy, h and bias; its column sums in parts, float32 (P, F), for P = tanh_partials(R)."""
    R, F = dy.shape
    V = vector_width(F, dy, h, bias, dh, partials)
    P, chunk = chunks(R, _MOST_CHUNKS)
    threads = 64
    return launch(
        "tanh",
        f"bias_tanh_backward<{dy.c_type}, {V}>",
        (blocks(F // V, threads), P),
        (threads,),
        (dy, h, bias, dh, partials, R, F, chunk),
    )


def tanh_partials(rows: int) -> int:
    """P of bias_tanh_backward: into how many chunks it cuts that many rows."""
    return chunks(rows, _MOST_CHUNKS)[0]


def mean_pool(y: Buffer, pooled: Buffer) -> Launch:
    """The mean over the tokens: y (B, N, D) to pooled (B, D)."""
    B, N, D = y.shape
    V = vector_width(D, y, pooled)
    return launch(
        "pooling", f"mean_pool<{y.c_type}, {V}>", (blocks(D, 32 * V), B), (32, 8), (y, pooled, N, D)
    )


def mean_pool_backward(dpooled: Buffer, dy: Buffer) -> Launch:
    """Its gradient: dpooled (B, D) to dy (B, N, D)."""
    B, N, D = dy.shape
    V = vector_width(D, dy, dpooled)
    grid, args = (blocks(dy.size // V),), (dpooled, dy, B, N, D)
    return launch("pooling", f"mean_pool_backward<{dy.c_type}, {V}>", grid, (THREADS,), args)
