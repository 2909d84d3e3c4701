"""A matrix product that is added to an array, in one call of BLAS; and pieces of rows to work on.

NumPy writes a product to a new array, and adding that takes another pass over three arrays. BLAS itself
computes c = a b + beta c. It is called through ctypes, from the library that NumPy uses. Where that library
does not have the function, the product is added in the usual way.

Pieces are some rows at a time, so that they are still in a core's cache when the next pass over them begins.
Smaller pieces would be better for the caches, but not for threads. Between two passes a thread needs Python's
global lock for a moment. If another thread has it just then, the first one waits, and waking it takes longer
than a short pass.
"""

import ctypes
import functools
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from tinyvit.engine.blas import blas_function

_ROW_MAJOR, _AS_IS, _TRANSPOSED = 101, 111, 112  # of cblas.h


def add_product(c: np.ndarray, a: np.ndarray, b: np.ndarray, scale: float = 1.0) -> None:
    """c (I, J) += scale a (I, K) @ b (K, J), all of one dtype. a and b may be transposed views."""
    if (len(a), *b.shape) != (len(c), a.shape[1], c.shape[1]) or not a.dtype == b.dtype == c.dtype:
        raise ValueError(f"{a.dtype} {a.shape} @ {b.dtype} {b.shape} cannot be added to {c.dtype} {c.shape}")
    gemm = _gemm(c.dtype.char)
    how_a, step_a = _layout(a)
    how_b, step_b = _layout(b)
    if gemm is None or not c.flags.c_contiguous or not step_a or not step_b:
        c += scale * (a @ b)
        return
    gemm(
        _ROW_MAJOR, how_a, how_b, *c.shape, a.shape[1],
        scale, _address(a), step_a, _address(b), step_b, 1.0, _address(c), c.shape[1],
    )  # fmt: skip


def product_plus_bias(a: np.ndarray, b: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """a (I, K) @ b (K, J) + bias (J,): BLAS begins with the bias where it would begin with zeros."""
    c = np.empty((len(a), b.shape[1]), dtype=a.dtype)
    c[...] = bias
    add_product(c, a, b)
    return c


def _layout(x: np.ndarray) -> tuple[int, int]:
    """The layout of x for BLAS, as it is or transposed, and the step from one row to the next, in numbers.

    That is 0 if x can be read in neither way.
    """
    size, (rows, columns), (across, along) = x.itemsize, x.shape, x.strides
    if along == size and across >= columns * size:
        return _AS_IS, across // size
    if across == size and along >= rows * size:
        return _TRANSPOSED, along // size
    return _AS_IS, 0


def _address(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]


@functools.cache
def _gemm(dtype: str) -> Callable[..., None] | None:
    """cblas_sgemm or cblas_dgemm, or None."""
    name = {"f": "cblas_sgemm", "d": "cblas_dgemm"}.get(dtype)
    routine = blas_function(name) if name else None
    if routine is None:
        return None
    function, integer = routine
    number = ctypes.c_float if dtype == "f" else ctypes.c_double
    order, pointer = ctypes.c_int, ctypes.c_void_p
    function.argtypes = [
        order, order, order, integer, integer, integer,
        number, pointer, integer, pointer, integer, number, pointer, integer,
    ]  # fmt: skip
    function.restype = None
    return function


# Numbers in a piece, about: four arrays of this size take 2 MiB. It is the same on every machine, and so are
# the sums that depend on it: a run can be resumed elsewhere.
PIECE = 131_072


def pieces(rows: int, width: int, times: int = 1) -> Iterator[slice]:
    """Slices of nearly equal length that cover the rows of this width, of about `times` PIECE numbers."""
    count = min(max(1, round(rows * width / (times * PIECE))), rows)
    cuts = [rows * i // count for i in range(count + 1)]
    return (slice(*ends) for ends in pairwise(cuts))
