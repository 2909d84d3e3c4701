"""Reading the pickles of the CIFAR data sets without letting a pickle run code.

A pickle is a small program that may name and call any function of any module. CIFAR's pickles need only three
names, all from NumPy, to rebuild an array of bytes. Here these names lead to two stand-ins that only record
what they are given. The array is made from that record, and every other name is refused.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.errors import UserError
from tinyvit.files.download import REDOWNLOAD


def load_pickle(path: Path) -> dict[bytes, Any]:
    """The pickled dictionary: plain Python values and uint8 arrays; Python 2 strings become bytes.

    Raises UserError if the pickle requests anything else, or is truncated or damaged.
    """
    try:
        with open(path, "rb") as file:
            content = _Unpickler(file, encoding="bytes").load()
        return {key: value.array if isinstance(value, _Array) else value for key, value in content.items()}
    except UserError as error:
        raise UserError(f"{path} {error}") from error
    except Exception as error:  # a damaged pickle may fail in any way at all
        raise UserError(
            f"{path} cannot be read ({error}), expected a pickled dictionary: "
            f"it is truncated or damaged. {REDOWNLOAD}"
        ) from error


class _Dtype:
    """Stands in for numpy.dtype, and accepts only bytes."""

    def __init__(self, code: bytes | str, *copy_flags: Any) -> None:
        if code not in (b"u1", "u1"):
            raise UserError(f"contains an array of type {code!r}, expected uint8: it is not a CIFAR batch.")

    def __setstate__(self, state: tuple) -> None:
        """Ignore byte order and the like, which do not apply to bytes."""


class _Array:
    """Stands in for numpy.ndarray: created empty, then given its shape and content."""

    def __init__(self, *empty_array: Any) -> None:
        self.array = np.empty(0, dtype=np.uint8)

    def __setstate__(self, state: tuple) -> None:
        _version, shape, dtype, fortran_order, content = state
        if not isinstance(dtype, _Dtype):
            raise UserError("contains an array without a type: it is not a CIFAR batch.")
        order = "F" if fortran_order else "C"
        self.array = np.frombuffer(content, dtype=np.uint8).reshape(shape, order=order)


_STAND_INS = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,  # as NumPy 1 spelled it
    ("numpy._core.multiarray", "_reconstruct"): _Array,  # as NumPy 2 does
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _STAND_INS:
            raise UserError(
                f"asks to load {module}.{name}, expected plain NumPy arrays: it may be malicious, and "
                "nothing was run. Delete it and download the data set from its official page."
            )
        return _STAND_INS[module, name]
