"""Matrix products by cuBLAS, through a handle of one's own.

CuPy refuses to use its handle while a graph is captured, and offers neither TF32 for single products nor
float32 results of bfloat16 factors. So the library is called directly, by ctypes. Nothing of it is needed to
import this file.

cuBLAS stores matrices column by column, and these arrays are stored row by row. Read column by column, the
memory of a matrix holds its transpose. Since c = a b means c^T = b^T a^T, the factors are given in reverse
order, and nothing is moved.
"""

import ctypes
import ctypes.util
import importlib
import os
import sys
import weakref
from typing import Any

from tinyvit.engine.cuda.launch import Buffer, Product

WORKSPACE_BYTES = 32 << 20  # what NVIDIA recommends for Hopper; 4 MiB would do for older cards

# From cublas_api.h and library_types.h.
_TYPES = {"float32": 0, "bfloat16": 14}  # CUDA_R_32F, CUDA_R_16BF
_COMPUTE = {"fp32": 68, "tf32": 77, "bf16": 68}  # CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32
_FLOAT_SUMS = 16  # CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION: parts of a sum stay float32, too
_NOT_TRANSPOSED, _TRANSPOSED = 0, 1
_DEFAULT_ALGORITHM = -1


class CublasError(RuntimeError):
    """Raised for an error of cuBLAS, and if cuBLAS cannot be found."""


class Cublas:
    """cuBLAS for products of one precision: fp32, tf32 or bf16.

    workspace is a device array of WORKSPACE_BYTES, in which it keeps intermediate results: with its own
    memory, it allocates none, as a graph demands.
    """

    def __init__(self, precision: str, workspace: Any, library: Any = None):
        self._handle = ctypes.c_void_p()
        self._library = library or load_library()
        self._compute = _COMPUTE[precision]
        self._workspace = workspace
        self._one, self._zero = ctypes.c_float(1), ctypes.c_float(0)
        _check(self._library.cublasCreate_v2(ctypes.byref(self._handle)), "cublasCreate")
        ending = weakref.finalize(self, self._library.cublasDestroy_v2, self._handle)
        ending.atexit = False  # by then CUDA may be gone
        _check(self._library.cublasSetMathMode(self._handle, _FLOAT_SUMS), "cublasSetMathMode")

    def use(self, stream: int) -> None:
        """Send products to this stream, a pointer; setting the stream takes the workspace away."""
        _check(self._library.cublasSetStream_v2(self._handle, ctypes.c_void_p(stream)), "cublasSetStream")
        pointer, size = ctypes.c_void_p(self._workspace.data.ptr), ctypes.c_size_t(self._workspace.nbytes)
        _check(self._library.cublasSetWorkspace_v2(self._handle, pointer, size), "cublasSetWorkspace")

    def multiply(self, product: Product, a: int, b: int, c: int) -> None:
        """Carry out a product whose matrices, or stacks of matrices, begin at these addresses.

        Any shape is allowed. Products in bfloat16 are fastest if all rows have a multiple of 8 numbers.
        """
        rows, inner, columns = product.sizes
        is_stack = len(product.c.shape) > 2
        name = "cublasGemmStridedBatchedEx" if is_stack else "cublasGemmEx"
        status = getattr(self._library, name)(
            self._handle,
            *(_TRANSPOSED if t else _NOT_TRANSPOSED for t in (product.transpose_b, product.transpose_a)),
            *map(ctypes.c_int, (columns, rows, inner)),
            ctypes.byref(self._one),
            *_matrix(b, product.b),
            *_matrix(a, product.a),
            ctypes.byref(self._one if product.accumulate else self._zero),
            *_matrix(c, product.c),
            *((ctypes.c_int(product.count),) if is_stack else ()),
            self._compute,
            _DEFAULT_ALGORITHM,
        )
        _check(status, f"{name} for {product.label or product}")


def load_library() -> Any:
    """The cuBLAS library: the one that CuPy uses, or one of the system.

    Raises CublasError if there is none.
    """
    for find in (_by_pathfinder, _by_name):
        library = find()
        if library is not None:
            return library
    raise CublasError(
        "the cuBLAS library is not found: install CUDA, or run pip install nvidia-cublas-cu12 "
        "(nvidia-cublas for CUDA 13)"
    )


def _by_pathfinder() -> Any:
    """By NVIDIA's own search, which CuPy 14 brings and uses; None without it, or if it finds nothing."""
    try:
        pathfinder = importlib.import_module("cuda.pathfinder")
        path = pathfinder.load_nvidia_dynamic_lib("cublas").abs_path
        return ctypes.CDLL(path) if path else None
    except (ImportError, RuntimeError, OSError):
        return None


def _by_name() -> Any:
    """By the names that the system's loader may know; None if it knows none of them.

    What CuPy has loaded already comes first: a system can have several versions of CUDA.
    """
    windows = sys.platform == "win32"
    names = [f"cublas64_{n}.dll" if windows else f"libcublas.so.{n}" for n in (13, 12, 11)]
    loaded = [(name, os.RTLD_NOLOAD) for name in names] if hasattr(os, "RTLD_NOLOAD") else []
    others = [(name, ctypes.DEFAULT_MODE) for name in (*names, ctypes.util.find_library("cublas")) if name]
    for name, mode in loaded + others:
        try:
            return ctypes.CDLL(name, mode)
        except OSError:
            continue
    return None


def _matrix(address: int, buffer: Buffer) -> tuple[Any, ...]:
    """A matrix as cuBLAS describes it: its address, type and length of rows; of a stack, also its stride."""
    *stack, rows, columns = buffer.shape
    stride = (ctypes.c_longlong(rows * columns),) if stack else ()
    return ctypes.c_void_p(address), _TYPES[buffer.dtype], ctypes.c_int(columns), *stride


def _check(status: int, what: str) -> None:
    if status != 0:
        raise CublasError(f"{what} failed with status {status}")
