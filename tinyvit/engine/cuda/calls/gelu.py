"""Launches of kernels/gelu.cu: bias, GELU and dropout, forward and backward."""

from math import ceil

from tinyvit.engine.cuda.calls.noise import Mask, mask_arguments, mask_parts
from tinyvit.engine.cuda.calls.signature import MULTIPROCESSORS, WARP, launch, vector_widths
from tinyvit.engine.cuda.launch import ITEM_BYTES, Buffer, Launch

_HEIGHT = 8  # rows that a block has in hand at a time
_BLOCKS, _BACKWARD_BLOCKS = 6, 4  # on each multiprocessor: the kernels' __launch_bounds__
_FORMS = {"tanh": "Tanh", "exact": "Exact"}


def partial_rows(rows: int, M: int, dtype: str, multiprocessors: int = MULTIPROCESSORS) -> int:
    """P, how many blocks share the rows of activations (rows, M) of that dtype in the backward.

    Each leaves a row of partial sums.
    """
    return _blocks_that_share(rows, M, dtype, _BACKWARD_BLOCKS * multiprocessors)


def bias_gelu(
    h: Buffer,
    bias: Buffer,
    mask: Mask | None,
    g: Buffer,
    form: str,
    multiprocessors: int = MULTIPROCESSORS,
) -> Launch:
    """g = m gelu(h + bias). h, a product without its bias, and g (R, M), bias (M,); form: tanh or exact.

    g must not be h. multiprocessors is how many the card has.
    """
    rows, M = h.shape
    vector = vector_widths(M, _longest_vector(h.dtype), h, g)[-1]
    return launch(
        f"bias_gelu<{h.c_type}, {_FORMS[form]}, {vector}>",
        (ceil(M / (WARP * vector)), _blocks_that_share(rows, M, h.dtype, _BLOCKS * multiprocessors)),
        (h, bias, *mask_arguments(mask), g, rows, M),
        (WARP, _HEIGHT),
        parts=mask_parts(mask),
    )


def bias_gelu_backward(
    dg: Buffer, h: Buffer, bias: Buffer, mask: Mask | None, dh: Buffer, partials: Buffer, form: str
) -> Launch:
    """dh = dg m gelu'(h + bias), and partial sums of its columns.

    dg, h and dh (R, M), three different buffers; partials (P, M), float32: the sums of dh before rounding, of
    each of P blocks one above the other; see partial_rows.
    """
    rows, M = h.shape
    if partials.shape[1:] != (M,):
        raise ValueError(f"partials {partials.shape}, expected (P, {M})")
    vector = vector_widths(M, _longest_vector(h.dtype), dg, h, dh)[-1]
    return launch(
        f"bias_gelu_backward<{h.c_type}, {_FORMS[form]}, {vector}>",
        (ceil(M / (WARP * vector)), partials.shape[0]),
        (dg, h, bias, *mask_arguments(mask), dh, partials, rows, M),
        (WARP, _HEIGHT),
        parts=mask_parts(mask),
    )


def _blocks_that_share(rows: int, M: int, dtype: str, blocks: int) -> int:
    """Number of blocks, one above the other, that share the rows, if this many in all run at once."""
    side_by_side = ceil(M / (WARP * _longest_vector(dtype)))
    return min(ceil(rows / _HEIGHT), max(1, blocks // side_by_side))


def _longest_vector(dtype: str) -> int:
    """Number of values in 16 bytes, the most that a thread moves at a time."""
    return 16 // ITEM_BYTES[dtype]
