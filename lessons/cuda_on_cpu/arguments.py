"""A kernel's arguments, checked against its parameters and put where the kernel takes them from.

CuPy passes whatever it is given: a Python float becomes a double, and a kernel that expects a float reads
nonsense. Here that is a TypeError.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np


class Parameter(ctypes.Structure):
    """A parameter as the compiler sees it; entry.h has the same fields."""

    _fields_ = (
        ("size", ctypes.c_int),
        ("kind", ctypes.c_char),
        ("pointee_size", ctypes.c_int),
        ("pointee_kind", ctypes.c_char),
        ("pointee_const", ctypes.c_bool),
    )


NAMES = {"f": "float", "i": "int", "u": "uint", "b": "bool", "h": "bfloat16", "s": "struct"}


@dataclass(frozen=True)
class Array:
    """An array that the kernel is given."""

    number: int  # which argument it is
    address: int
    nbytes: int
    itemsize: int


def pack(parameters: list[Parameter], args: tuple[Any, ...]) -> tuple[list[np.ndarray], list[Array]]:
    """One small array of bytes for each parameter, and the arrays among the arguments. Raises TypeError."""
    if not isinstance(args, (tuple, list)):
        raise TypeError("the arguments belong in a tuple: (x,) if there is only one")
    if len(args) != len(parameters):
        raise TypeError(f"the kernel has {len(parameters)} parameters, and {len(args)} arguments are given")
    values, arrays = [], []
    for number, (parameter, arg) in enumerate(zip(parameters, args, strict=True)):
        try:
            if parameter.kind == b"p":
                array = _array(parameter, arg, number)
                arrays += [array] if array.nbytes else []
                values.append(np.array([array.address], np.uint64))
            else:
                values.append(_scalar(parameter, arg))
        except TypeError as error:
            raise TypeError(f"argument {number}: {error}") from None
    return values, arrays


def _array(parameter: Parameter, arg: Any, number: int) -> Array:
    if arg is None:
        return Array(number, 0, 0, 1)
    if isinstance(arg, np.ndarray):
        address = arg.ctypes.data
    elif hasattr(getattr(arg, "data", None), "ptr"):
        address = arg.data.ptr
    else:
        raise TypeError(f"the kernel expects a pointer, and {arg!r} is not an array")
    expected, given = _wanted(parameter.pointee_kind, parameter.pointee_size), np.dtype(arg.dtype)
    if not _fits(parameter.pointee_kind.decode(), parameter.pointee_size, given):
        raise TypeError(f"the kernel expects a pointer to {expected}, and the array has {given}")
    if not (arg.flags.c_contiguous or arg.flags.f_contiguous):
        raise TypeError("the array has gaps between its numbers: give a contiguous one")
    if not parameter.pointee_const and not getattr(arg.flags, "writeable", True):
        raise TypeError("the array is read-only: give a copy, or make the parameter a pointer to const")
    return Array(number, address, arg.nbytes, given.itemsize)


def _scalar(parameter: Parameter, arg: Any) -> np.ndarray:
    kind, size = parameter.kind.decode(), parameter.size
    value = {bool: np.bool_, int: np.int64, float: np.float64}.get(type(arg), lambda same: same)(arg)
    expected = _wanted(parameter.kind, size)
    if not isinstance(value, np.generic):
        given = f"an array of {arg.dtype}" if hasattr(arg, "dtype") else repr(arg)
        raise TypeError(f"the kernel expects {expected}, and {given} is none: give a NumPy scalar")
    if value.dtype.itemsize != size or not _fits(kind, size, value.dtype):
        hint = f"; give np.{expected}({arg!r})" if value is not arg and kind in "fiu" else ""
        raise TypeError(f"the kernel expects {expected}, and {arg!r} is passed as {value.dtype}{hint}")
    return np.atleast_1d(np.asarray(value))


def _wanted(kind: bytes, size: int) -> str:
    name = NAMES[kind.decode()]
    return f"{name}{8 * size}" if name in ("float", "int", "uint") else f"{name} of {size} bytes"


def _fits(kind: str, size: int, dtype: np.dtype) -> bool:
    """True if the dtype is the one that the compiler means. A struct, such as float4, can be made of any."""
    if kind == "s":
        return True
    if kind == "h":
        return dtype == np.uint16 or dtype.name == "bfloat16"
    return dtype.itemsize == size and dtype.kind == kind
