"""Launches of kernels/layer_norm.cu: a residual branch and LayerNorm after it."""

from dataclasses import replace
from math import ceil

from tinyvit.engine.cuda.calls.noise import Mask, mask_arguments, mask_parts
from tinyvit.engine.cuda.calls.signature import MULTIPROCESSORS, WARP, launch, vector_widths
from tinyvit.engine.cuda.launch import ITEM_BYTES, Buffer, Launch

MAX_WIDTH = 3072
_NUMBERS = 24  # the most that a thread keeps of one row
_BLOCK = 128  # threads of a block, forward


def partial_rows(rows: int, multiprocessors: int = MULTIPROCESSORS) -> int:
    """P, a good number of blocks for layer_norm_backward: as many as run at the same time, or fewer.

    Each leaves a row of partial sums.
    """
    return min(2 * multiprocessors, ceil(rows / 4))


def residual_layer_norm(
    x: Buffer,
    branch: Buffer | None,
    branch_bias: Buffer | None,
    mask: Mask | None,
    total: Buffer | None,
    weight: Buffer,
    bias: Buffer,
    y: Buffer,
    mean: Buffer,
    r: Buffer,
    every: int = 1,
    eps: float = 1e-6,
) -> Launch:
    """total = x + m (branch + branch_bias) and y = LayerNorm(total), in one pass.

    branch, total and y (R, D) of activations; x too, but its row i * every is used for row i. branch_bias,
    weight and bias (D,), mean and r (R,), float32. total is rounded to its type before it is normalised. It
    may be x itself if every is 1. Without a branch, total is None and x is normalised.
    """
    if (branch is None) != (total is None):
        raise ValueError("a branch and the total go together: give both or neither")
    D = x.shape[-1]
    rows = y.size // D
    threads, loads, vector = _row_shape(D, x, branch, branch_bias, total, weight, bias, y)
    call = launch(
        f"residual_layer_norm<{x.c_type}, {threads}, {loads}, {vector}>",
        ceil(rows / (_BLOCK // threads)),
        (x, branch, branch_bias, *mask_arguments(mask), total, weight, bias, y, mean, r, rows, D, every, eps),
        _BLOCK,
        parts=mask_parts(mask),
    )
    return replace(call, moved=call.bytes_moved - x.nbytes + y.nbytes)  # of x, as many rows as y has


def layer_norm_backward(
    dy: Buffer,
    x: Buffer,
    mean: Buffer,
    r: Buffer,
    weight: Buffer,
    skip: Buffer | None,
    dx: Buffer,
    mask: Mask | None,
    dbranch: Buffer | None,
    partials: Buffer,
    skip_every: int = 1,
) -> Launch:
    """dx = skip + LayerNorm's gradient, dbranch = m dx, and partial sums over the rows.

    dy, x, dx and dbranch (R, D) of activations. skip has a row for every skip_every-th row, and may be dx
    itself if that is every one. partials (P, 3, D), float32: the sums of dy * n, of dy, and of m dx before
    rounding, of each of P blocks; see partial_rows.
    """
    D = x.shape[-1]
    rows = dy.size // D
    if partials.shape[1:] != (3, D):
        raise ValueError(f"partials {partials.shape}, expected (P, 3, {D})")
    threads, loads, vector = _row_shape(D, dy, x, weight, skip, dx, dbranch)
    threads_of_block = _block(loads, vector, x.dtype)
    return launch(
        f"layer_norm_backward<{x.c_type}, {threads}, {loads}, {vector}, {threads_of_block}>",
        partials.shape[0],
        (dy, x, mean, r, weight, skip, dx, *mask_arguments(mask), dbranch, partials, rows, D, skip_every),
        threads_of_block,
        parts=mask_parts(mask),
    )


def _row_shape(D: int, *buffers: Buffer | None) -> tuple[int, int, int]:
    """The spread of a row over threads: (threads, loads of each thread, numbers of each load).

    One warp if a thread then has few enough numbers to keep in registers, otherwise two or four. Short
    vectors leave fewer threads without work at the end of a row, long ones need fewer loads.
    """
    if D > MAX_WIDTH:
        raise ValueError(f"rows of {D} numbers, expected at most {MAX_WIDTH}")
    for threads in (WARP, 2 * WARP, 4 * WARP):
        shapes = [(ceil(D / (threads * v)), v) for v in vector_widths(D, 4, *buffers)]
        fitting = [(loads, v) for loads, v in shapes if loads * v <= _NUMBERS]
        if fitting:
            break
    return threads, *min(fitting, key=lambda shape: shape[0] + shape[0] * shape[1])


def _block(loads: int, vector: int, dtype: str) -> int:
    """Threads of a block of the backward, each with a number of loads, of a number of values of a row each.

    A thread keeps three sums and the gain of each number, and three fetched rows, whose numbers have four
    bytes each, or two side by side. So two blocks of this size fit into the 65,536 registers of a
    multiprocessor.
    """
    numbers, fetched = loads * vector, loads * ceil(vector * ITEM_BYTES[dtype] / 4)
    if numbers + fetched <= 9:
        return 512
    return 384 if numbers <= 6 else 256 if numbers <= 12 else 128
