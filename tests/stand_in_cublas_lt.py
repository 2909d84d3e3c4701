"""The functions of libcublasLt that tinyvit calls: products with epilogues, by NumPy, on what memory holds.

Names, numbers and sizes are those of cublasLt.h, which test_cublas_lt.py has a compiler compare. An unaligned
bias is refused here; on some cards it is an error of the card.
"""

import ctypes
import struct
from functools import partial

import numpy as np

from tests.bfloat16 import from_bf16, to_bf16

SUCCESS, NOT_INITIALIZED, INVALID_VALUE, NOT_SUPPORTED = 0, 1, 7, 15
FLOAT, BF16 = 0, 14  # CUDA_R_32F, CUDA_R_16BF
COMPUTE = {FLOAT: (68, 77), BF16: (68,)}  # CUBLAS_COMPUTE_32F and _32F_FAST_TF32, which is exact here
ATTRIBUTES = {  # by kind of descriptor: names, and what their values are for the module struct
    "MatmulDesc": {
        3: ("TRANSA", "i"),
        4: ("TRANSB", "i"),
        7: ("EPILOGUE", "I"),
        8: ("BIAS_POINTER", "Q"),
        11: ("EPILOGUE_AUX_POINTER", "Q"),
        12: ("EPILOGUE_AUX_LD", "q"),
    },
    "MatmulPreference": {
        1: ("MAX_WORKSPACE_BYTES", "Q"),
        3: ("REDUCTION_SCHEME_MASK", "I"),
        **{5 + i: (f"MIN_ALIGNMENT_{letter}_BYTES", "I") for i, letter in enumerate("ABCD")},
    },
}
EPILOGUES = {36: "GELU_BIAS", 164: "GELU_AUX_BIAS", 208: "DGELU_BGRAD"}
HEURISTIC = struct.Struct("=64sQif16x")  # cublasLtMatmulHeuristicResult_t


class FakeCublasLt:
    """The library's part for epilogues. Descriptors are known by numbers; queue and handles are cuBLAS's."""

    def __init__(self):
        self.descriptors, self._numbers = {}, iter(range(1 << 20, 1 << 30, 16))
        for kind in ("MatmulDesc", "MatmulPreference", "MatrixLayout"):
            for name, function in (
                ("Create", self._create),
                ("Destroy", self._destroy),
                ("SetAttribute", self._set_one),
            ):
                setattr(self, f"cublasLt{kind}{name}", partial(function, kind))

    def _create(self, kind, descriptor, *numbers):
        number = descriptor._obj.value = next(self._numbers)
        self.descriptors[number] = {"kind": kind, "numbers": tuple(map(_number, numbers))}
        return SUCCESS

    def _destroy(self, kind, descriptor):
        return SUCCESS if self.descriptors.pop(_number(descriptor))["kind"] == kind else INVALID_VALUE

    def _set_one(self, kind, descriptor, attribute, value, size):
        name, form = ATTRIBUTES[kind][_number(attribute)]
        known = self.descriptors[_number(descriptor)]
        if known["kind"] != kind or _number(size) != struct.calcsize(form):
            return INVALID_VALUE
        (known[name],) = struct.unpack(form, ctypes.string_at(ctypes.addressof(value._obj), _number(size)))
        return SUCCESS

    def cublasLtMatmulAlgoGetHeuristic(self, handle, *descriptors):  # noqa: N802
        """The algorithm is a note of what it is for, and of how its matrices must be aligned."""
        description, *layouts, preference, asked, found, count = descriptors
        count._obj.value = 0
        if _number(handle) not in self.handles:
            return NOT_INITIALIZED
        wanted = self.descriptors[_number(preference)]
        if status := self._refused(description, layouts) or (
            INVALID_VALUE if _number(asked) < 1 else SUCCESS
        ):
            return status
        aligned = [wanted[f"MIN_ALIGNMENT_{letter}_BYTES"] for letter in "ABCD"]
        algorithm = struct.pack("5I", wanted["REDUCTION_SCHEME_MASK"], *aligned)
        packed = HEURISTIC.pack(algorithm, wanted["MAX_WORKSPACE_BYTES"], SUCCESS, 1.0)
        ctypes.memmove(ctypes.addressof(found._obj), packed, len(packed))
        count._obj.value = 1
        return SUCCESS

    def cublasLtMatmul(self, handle, description, alpha, *rest):  # noqa: N802
        """D = epilogue(alpha op(A) op(B) + beta C), column by column."""
        a, layout_a, b, layout_b, beta, c, layout_c, d, layout_d, algorithm, workspace, size, stream = rest
        how, layouts = self.descriptors[_number(description)], (layout_a, layout_b, layout_c, layout_d)
        if status := self._refused(description, layouts):
            return status
        reduction, *aligned = struct.unpack("5I", ctypes.string_at(ctypes.addressof(algorithm._obj), 20))
        places = [_number(each) for each in (a, b, c, d)]
        if reduction or any(place % at for place, at in zip(places, aligned, strict=True)):
            return INVALID_VALUE
        if not _number(workspace) or _number(size) < 4 << 20:
            return INVALID_VALUE
        needs_aux = EPILOGUES[how["EPILOGUE"]] in ("GELU_AUX_BIAS", "DGELU_BGRAD")
        if not how.get("BIAS_POINTER") or (needs_aux and not how.get("EPILOGUE_AUX_POINTER")):
            return NOT_SUPPORTED
        A, B, C, D = (
            _columns(place, *self.descriptors[_number(layout)]["numbers"])
            for place, layout in zip(places, layouts, strict=True)
        )
        kind = self.descriptors[_number(layout_d)]["numbers"][0]
        bias = _columns(how["BIAS_POINTER"], kind, len(D), 1, len(D))
        aux = None
        if needs_aux:
            aux = _columns(how["EPILOGUE_AUX_POINTER"], kind, *D.shape, how["EPILOGUE_AUX_LD"])
        A, B = A.T if how["TRANSA"] else A, B.T if how["TRANSB"] else B
        scales = np.float32(alpha._obj.value), np.float32(beta._obj.value)
        work = partial(_carry_out, EPILOGUES[how["EPILOGUE"]], A, B, C, D, bias, aux, *scales)
        self.queue.send(work, _number(stream) or 0)
        return SUCCESS

    def _refused(self, description, layouts):
        """The status with which a description and four layouts are refused."""
        how = self.descriptors[_number(description)]
        shapes = [self.descriptors[_number(layout)]["numbers"] for layout in layouts]
        (_, *a), (_, *b), _, (_, *d) = shapes
        (m, k), (k2, n) = (x[:2][:: -1 if how[t] else 1] for x, t in ((a, "TRANSA"), (b, "TRANSB")))
        kinds, (compute, scale) = {kind for kind, *_ in shapes}, how["numbers"]
        if len(kinds) > 1 or compute not in COMPUTE[kinds.pop()] or scale != FLOAT:
            return NOT_SUPPORTED
        if (
            k != k2
            or d[:2] != [m, n]
            or shapes[2] != shapes[3]
            or any(ld < rows for _, rows, _, ld in shapes)
        ):
            return INVALID_VALUE
        if "EPILOGUE_AUX_LD" in how and (how["EPILOGUE_AUX_LD"] < m or how["EPILOGUE_AUX_LD"] % 8):
            return INVALID_VALUE
        return NOT_SUPPORTED if how["BIAS_POINTER"] % 16 else SUCCESS


def _carry_out(kind, A, B, C, D, bias, aux, alpha, beta):
    with np.errstate(all="ignore"):  # it may be tried on whatever is in memory
        sums = alpha * (_floats(A) @ _floats(B))
        if beta:
            sums += beta * _floats(C)
        if kind == "DGELU_BGRAD":
            x = _floats(aux)
            t = _tanh(x)
            sums *= 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.79788456 * (1 + 3 * 0.044715 * x * x)
            _store(bias[:, 0], sums.sum(axis=1))
        else:
            sums += _floats(bias)
            if aux is not None:
                _store(aux, sums)
            sums *= 0.5 * (1 + _tanh(sums))
        _store(D, sums)


def _tanh(x):
    return np.tanh(0.79788456 * (x + 0.044715 * x**3))


def _number(value):
    return getattr(value, "value", value)


def _floats(X):
    """The numbers of X as float32, whichever type they are kept in."""
    return from_bf16(X) if X.dtype == np.uint16 else X


def _store(X, values):
    X[...] = to_bf16(values) if X.dtype == np.uint16 else values


def _columns(place, kind, rows, columns, leading):
    """The matrix (rows, columns) stored column by column at this address; bfloat16 as its bits."""
    dtype = np.dtype(np.uint16 if kind == BF16 else np.float32)
    count = dtype.itemsize * ((columns - 1) * leading + rows)
    flat = np.frombuffer((ctypes.c_char * count).from_address(place), dtype)
    return np.ndarray((rows, columns), dtype, flat, 0, (dtype.itemsize, leading * dtype.itemsize))
