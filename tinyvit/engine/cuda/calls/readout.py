"""The launches of kernels/readout.cu: the pre_logits layer, and what is read of the patches."""

from tinyvit.engine.cuda.calls.signature import blocks, chunks, launch, vector_width
from tinyvit.engine.cuda.launch import ITEM_BYTES, Buffer, Launch

_MOST_CHUNKS = 128  # of the rows: there are few columns, so that many chunks keep the processors busy


def bias_tanh(h: Buffer, bias: Buffer, y: Buffer) -> Launch:
    """y = tanh(h + bias): h and y (R, F), bias (F,)."""
    R, F = h.shape
    V = vector_width(F, h, bias, y)
    return launch(f"bias_tanh<{h.c_type}, {V}>", blocks(h.size // V), (h, bias, y, R, F))


def bias_tanh_backward(dy: Buffer, h: Buffer, bias: Buffer, dh: Buffer, partials: Buffer) -> Launch:
    """dh (R, F) from dy, h and bias; its column sums in parts, float32 (P, F), for P = tanh_partials(R)."""
    R, F = dy.shape
    V = vector_width(F, dy, h, bias, dh, partials)
    (P, chunk), threads = chunks(R, _MOST_CHUNKS), 64
    grid, args = (blocks(F // V, threads), P), (dy, h, bias, dh, partials, R, F, chunk)
    return launch(f"bias_tanh_backward<{dy.c_type}, {V}>", grid, args, threads)


def tanh_partials(rows: int) -> int:
    """P of bias_tanh_backward: into how many chunks it cuts that many rows."""
    return chunks(rows, _MOST_CHUNKS)[0]


def mean_pool(y: Buffer, pooled: Buffer, before: int = 0) -> Launch:
    """The mean over the tokens from number `before` on: y (B, N, D) to pooled (B, D)."""
    B, N, D = y.shape
    V = vector_width(D, y, pooled)
    grid, args = (blocks(D, 32 * V), B), (y, pooled, N, D, before)
    moved = B * (N - before) * D * ITEM_BYTES[y.dtype] + pooled.nbytes
    return launch(f"mean_pool<{y.c_type}, {V}>", grid, args, (32, 8), moved=moved)


def take_rows(y: Buffer, chosen: Buffer | None, taken: Buffer, before: int = 0) -> Launch:
    """taken (B, n, D): of y (B, N, D), from number `before` on, the tokens chosen (B, n), int32, or all."""
    (B, N, D), n = y.shape, taken.shape[1]
    V = vector_width(D, y, taken)
    grid, args = blocks(taken.size // V), (y, chosen, taken, B, n, N, D, before)
    moved = 2 * taken.nbytes + (chosen.nbytes if chosen else 0)
    return launch(f"take_rows<{y.c_type}, {V}>", grid, args, moved=moved)


def pool_backward(dpooled: Buffer, places: Buffer | None, dy: Buffer, before: int = 0) -> Launch:
    """The gradient of mean_pool, without places, or of take_rows: dpooled (B*n, D) to dy (B, N, D).

    places (B, N - before), int32, says which of an image's n rows a token was; n or more for none.
    """
    B, N, D = dy.shape
    V = vector_width(D, dy, dpooled)
    args = dpooled, places, dy, B, dpooled.size // (B * D), N, D, before
    return launch(f"pool_backward<{dy.c_type}, {V}>", blocks(dy.size // V), args)
