"""Matrix products with an epilogue, by cuBLASLt: what follows a product is done before its result is stored.

GELU after a product, for example, is otherwise a kernel that reads what the product has written. cuBLASLt is
told of a product by descriptors, and asked which algorithm it would take for it; it may have none. So a
product is made ready when a plan is bound to memory, and all are tried before the first step: see Program.

The algorithm depends on the card, the version and the sizes alone, and splits no sum into parts that are
added up later. No card has run any of this yet: it was held against cuBLASLt's header and documentation, and
has to be asked for. Others found GELU in bfloat16 to be a part of the product on an H100, and
two kernels, slower than before, on an RTX 4090 and an RTX 5090 (github.com: karpathy/llm.c, pull requests 338
and 653; sgl-project/sglang, 34350). The documentation does not say how exact GELU is in float32.

A residual sum could be an epilogue too: a bias, and an array to be added (beta = 1). It would save 2 of the
96 widths of bytes that a block moves. The documentation advises against beta = 1 with a bias.
"""

import ctypes
import os
import weakref
from collections.abc import Mapping
from ctypes import byref, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p, sizeof
from typing import Any

from tinyvit.engine.cuda.cublas import TYPES, Cublas, CublasError, check
from tinyvit.engine.cuda.launch import Buffer, Product

SWITCH = "TINYVIT_CUDA_FUSED_GELU"  # 1 to have GELU in the products beside it

# From cublasLt.h: the number of each attribute, and the type of its value.
EPILOGUES = {"GELU_BIAS": 36, "GELU_AUX_BIAS": 164, "DGELU_BGRAD": 208}
DESCRIPTION = {
    "TRANSA": (3, c_int32),
    "TRANSB": (4, c_int32),
    "EPILOGUE": (7, c_uint32),
    "BIAS_POINTER": (8, c_void_p),
    "EPILOGUE_AUX_POINTER": (11, c_void_p),
    "EPILOGUE_AUX_LD": (12, c_int64),
}
PREFERENCE = {
    "MAX_WORKSPACE_BYTES": (1, c_uint64),
    "REDUCTION_SCHEME_MASK": (3, c_uint32),
    **{f"MIN_ALIGNMENT_{matrix}_BYTES": (5 + i, c_uint32) for i, matrix in enumerate("ABCD")},
}
UNDIVIDED = 0  # CUBLASLT_REDUCTION_SCHEME_NONE


class Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t: an algorithm, and what is known of it."""

    _fields_ = [
        ("algo", c_uint64 * 8),
        ("workspace", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    ]


def wants_fused_gelu() -> bool:
    """Whether the environment asks for it."""
    return os.environ.get(SWITCH) == "1"


class FusedProduct:
    """A product with an epilogue, between the addresses of its buffers; calling it carries it out.

    The factors are given in reverse order: see cublas. What is a column for us is a row for cuBLASLt, which
    has a bias for each row. Raises CublasError if there is no algorithm.
    """

    def __init__(self, cublas: Cublas, product: Product, addresses: Mapping[Buffer, int]):
        self._cublas, library = cublas, cublas.library
        after, c = product.epilogue, product.c
        values = {
            "TRANSA": int(product.transpose_b),
            "TRANSB": int(product.transpose_a),
            "EPILOGUE": EPILOGUES[after.kind],
            "BIAS_POINTER": addresses[after.bias],
        }
        if after.aux:
            values |= {"EPILOGUE_AUX_POINTER": addresses[after.aux], "EPILOGUE_AUX_LD": c.shape[1]}
        description = _Descriptor(library, "MatmulDesc", c_int(cublas.compute), c_int(TYPES["float32"]))
        description.set(DESCRIPTION, values)
        matrices = product.b, product.a, c, c
        places = [addresses[matrix] for matrix in matrices]
        layouts = [_layout(library, matrix) for matrix in matrices]
        preference = _Descriptor(library, "MatmulPreference")
        preference.set(
            PREFERENCE,
            {"MAX_WORKSPACE_BYTES": cublas.workspace.nbytes, "REDUCTION_SCHEME_MASK": UNDIVIDED}
            | {f"MIN_ALIGNMENT_{x}_BYTES": min(256, at & -at) for x, at in zip("ABCD", places, strict=True)},
        )
        found, count = Heuristic(), c_int()
        self._kept = description, *layouts
        pointers = [each.pointer for each in (*self._kept, preference)]
        _call(library, "MatmulAlgoGetHeuristic", cublas.handle, *pointers, 1, byref(found), byref(count))
        if count.value < 1 or found.state:
            raise CublasError(f"cuBLASLt has no algorithm for {product.label}")
        A, B, C, D = ((c_void_p(at), layout.pointer) for at, layout in zip(places, layouts, strict=True))
        self._arguments = (
            *(cublas.handle, description.pointer),
            *(byref(c_float(1)), *A, *B),
            *(byref(c_float(0)), *C, *D),
            byref(found.algo),
            *(c_void_p(cublas.workspace.data.ptr), c_size_t(cublas.workspace.nbytes)),
        )

    def __call__(self) -> None:
        """Send it to the stream that cuBLAS was told last."""
        _call(self._cublas.library, "Matmul", *self._arguments, c_void_p(self._cublas.stream))


class _Descriptor:
    """A descriptor of cuBLASLt, as long as this object lives."""

    def __init__(self, library: Any, kind: str, *arguments: Any):
        self.pointer, self._library, self._kind = c_void_p(), library, kind
        _call(library, f"{kind}Create", byref(self.pointer), *arguments)
        weakref.finalize(self, _call, library, f"{kind}Destroy", self.pointer).atexit = False

    def set(self, table: Mapping[str, tuple[int, Any]], values: Mapping[str, int]) -> None:
        """Set attributes, by the names that they have in a table."""
        for name, value in values.items():
            number, kind = table[name]
            given = byref(kind(value)), c_size_t(sizeof(kind))
            _call(self._library, f"{self._kind}SetAttribute", self.pointer, number, *given)


def _layout(library: Any, matrix: Buffer) -> _Descriptor:
    """A matrix stored row by row, which is its transpose stored column by column."""
    rows, columns = matrix.shape
    shape = c_uint64(columns), c_uint64(rows), c_int64(columns)
    return _Descriptor(library, "MatrixLayout", c_int(TYPES[matrix.dtype]), *shape)


def _call(library: Any, name: str, *arguments: Any) -> None:
    """A function of cuBLASLt; on Windows it is in a library of its own, and counts as missing."""
    if (function := getattr(library, f"cublasLt{name}", None)) is None:
        raise CublasError(f"this cuBLAS has no cublasLt{name}")
    check(function(*arguments), f"cublasLt{name}")
