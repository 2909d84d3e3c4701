"""The functions of libcublas that tinyvit calls, on addresses in main memory, by NumPy.

It stands in for what ctypes loads, so that what is tested includes the order of the factors, the leading
dimensions and the types. Names, numbers and meanings are those of cublas_api.h and library_types.h.
"""

import ctypes
from functools import partial

import numpy as np

from tests.bfloat16 import from_bf16, to_bf16

SUCCESS, NOT_INITIALIZED, INVALID_VALUE, NOT_SUPPORTED = 0, 1, 7, 15
DTYPES = {0: np.float32, 14: np.uint16}  # CUDA_R_32F; CUDA_R_16BF, as its bits
TF32_MATH = 3  # CUBLAS_TF32_TENSOR_OP_MATH
COMPUTE_32F, COMPUTE_32F_PEDANTIC, COMPUTE_32F_FAST_TF32 = 68, 69, 77


class FakeCublas:
    """The library. Products go to the stream of their handle in this queue, and are captured with it."""

    def __init__(self, queue):
        self.queue, self.handles = queue, {}

    def cublasCreate_v2(self, handle):  # noqa: N802
        """handle: the address of a void*."""
        target = _pointee(handle)
        target.value = 4096 * (len(self.handles) + 1)
        self.handles[target.value] = {"stream": 0, "workspace": False, "math": 0}
        return SUCCESS

    def cublasDestroy_v2(self, handle):  # noqa: N802
        """Nothing is sent with it any more."""
        return SUCCESS if self.handles.pop(_number(handle), None) else NOT_INITIALIZED

    def cublasSetStream_v2(self, handle, stream):  # noqa: N802
        """It also goes back to the library's own workspace, which a graph cannot use."""
        return self._set(handle, stream=_number(stream) or 0, workspace=False)

    def cublasSetWorkspace_v2(self, handle, pointer, size):  # noqa: N802
        """Memory for intermediate results."""
        if not _number(pointer) or _number(size) < 4 << 20:
            return INVALID_VALUE
        return self._set(handle, workspace=True)

    def cublasSetMathMode(self, handle, mode):  # noqa: N802
        """The mode says whether float32 products may be in TF32."""
        return self._set(handle, math=_number(mode))

    def cublasGemmEx(self, handle, trans_a, trans_b, m, n, k, alpha, *rest):  # noqa: N802
        """C = alpha op(A) op(B) + beta C, column by column; op(A) is (m, k), op(B) (k, n)."""
        a, kind_a, lda, b, kind_b, ldb, beta, c, kind_c, ldc, compute, _ = rest
        trans_a, trans_b, m, n, k, lda, ldb, ldc, compute = map(
            _number, (trans_a, trans_b, m, n, k, lda, ldb, ldc, compute)
        )
        kinds = tuple(map(_number, (kind_a, kind_b, kind_c)))
        known = self.handles.get(_number(handle))
        if known is None:
            return NOT_INITIALIZED
        if kinds not in ((0, 0, 0), (14, 14, 14), (14, 14, 0)) or not known["workspace"]:
            return NOT_SUPPORTED
        if compute not in (COMPUTE_32F, COMPUTE_32F_PEDANTIC, COMPUTE_32F_FAST_TF32):
            return NOT_SUPPORTED
        if min(m, n, k) < 0 or lda < (k if trans_a else m) or ldb < (n if trans_b else k) or ldc < m:
            return INVALID_VALUE
        tf32 = compute == COMPUTE_32F_FAST_TF32 or (compute == COMPUTE_32F and known["math"] == TF32_MATH)
        A = _columns(a, kinds[0], *((k, m) if trans_a else (m, k)), lda)
        B = _columns(b, kinds[1], *((n, k) if trans_b else (k, n)), ldb)
        C = _columns(c, kinds[2], m, n, ldc)
        A, B = A.T if trans_a else A, B.T if trans_b else B
        work = partial(_multiply, A, B, C, _float(alpha), _float(beta), tf32 and kinds[0] == 0)
        self.queue.send(work, known["stream"])
        return SUCCESS

    def cublasGemmStridedBatchedEx(self, handle, trans_a, trans_b, m, n, k, alpha, *rest):  # noqa: N802
        """`count` products, whose matrices lie the strides apart, counted in numbers."""
        a, kind_a, lda, step_a, b, kind_b, ldb, step_b, beta, c, kind_c, ldc, step_c, count, *last = rest
        if _number(count) < 0:
            return INVALID_VALUE
        for i in range(_number(count)):
            places = (
                ctypes.c_void_p(_number(first) + i * _number(step) * np.dtype(DTYPES[_number(kind)]).itemsize)
                for first, step, kind in ((a, step_a, kind_a), (b, step_b, kind_b), (c, step_c, kind_c))
            )
            own_a, own_b, own_c = places
            given = (alpha, own_a, kind_a, lda, own_b, kind_b, ldb, beta, own_c, kind_c, ldc, *last)
            if status := self.cublasGemmEx(handle, trans_a, trans_b, m, n, k, *given):
                return status
        return SUCCESS

    def _set(self, handle, **values):
        known = self.handles.get(_number(handle))
        if known is None:
            return NOT_INITIALIZED
        known.update(values)
        return SUCCESS


def _number(value):
    """Of a ctypes number or pointer, or of a Python int."""
    return getattr(value, "value", value)


def _pointee(pointer):
    """The object that byref(x) or pointer(x) points to."""
    return pointer._obj if hasattr(pointer, "_obj") else pointer.contents


def _float(pointer):
    return np.float32(_pointee(pointer).value)


def _columns(pointer, kind, rows, columns, leading):
    """The matrix (rows, columns) stored column by column at this address."""
    dtype = np.dtype(DTYPES[kind])
    count = (columns - 1) * leading + rows if rows and columns else 0
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(_number(pointer))
    flat = np.frombuffer(memory, dtype)
    return np.ndarray((rows, columns), dtype, flat, 0, (dtype.itemsize, leading * dtype.itemsize))


def _multiply(A, B, C, alpha, beta, tf32):
    a, b = (_tf32(_floats(X)) if tf32 else _floats(X) for X in (A, B))
    result = alpha * (a @ b)
    if beta:  # with beta 0, C is not read: it may be NaN
        result += beta * _floats(C)
    C[...] = to_bf16(result) if C.dtype == np.uint16 else result


def _floats(X):
    """The numbers of X as float32, whichever type they are kept in."""
    return from_bf16(X) if X.dtype == np.uint16 else X


def _tf32(x):
    """x with 10 bits after the leading one, to the nearest, as tensor cores read float32 in TF32."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    return ((bits + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32)
