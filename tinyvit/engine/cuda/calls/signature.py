"""A launch from a kernel's own signature: the types of its numbers, what it reads and what it writes."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

import numpy as np

from tinyvit.engine.cuda.compiled import FOLDER
from tinyvit.engine.cuda.launch import Argument, Buffer, Launch

_NUMBERS = {"int": np.int32, "float": np.float32}


def launch(
    file: str,
    function: str,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    args: tuple[Buffer | float | None, ...],
    in_place: Collection[Buffer] = (),
    parts: Mapping[str, tuple[Buffer, ...]] | None = None,
    **more: Any,
) -> Launch:
    """The launch of a kernel of FILE.cu, with its arguments in the order of its parameters.

    What a pointer to const leads to is read, what any other leads to is written; in_place are buffers that
    are written and also read. parts says, by the buffer's name, of which only some parts are touched. more
    are fields of Launch. Raises ValueError if the kernel has another number of parameters.
    """
    types = parameters(file, function.partition("<")[0])
    typed: list[Argument] = []
    reads: list[Buffer] = []
    writes: list[Buffer] = []
    for type_, arg in zip(types, args, strict=True):
        if arg is None or isinstance(arg, Buffer):
            typed.append(arg)
        else:
            typed.append(_NUMBERS[type_](arg))
        if isinstance(arg, Buffer):
            touched = (parts or {}).get(arg.name, (arg,))
            is_read = type_.startswith("const ")
            reads += touched if is_read or arg in in_place else ()
            writes += () if is_read else touched
    return Launch(file, function, grid, block, tuple(typed), tuple(reads), tuple(writes), **more)


@cache
def parameters(file: str, name: str) -> tuple[str, ...]:
    """The types of a kernel's parameters, such as "const T*", "float*" and "int"."""
    text = (FOLDER / f"{file}.cu").read_text("utf-8")
    found = re.search(rf"__global__[^;{{}}]*?\b{name}\(([^{{]*?)\)\s*{{", text)
    if not found:
        raise ValueError(f"{file}.cu has no kernel {name}")
    return tuple(re.sub(r"\s*(__restrict__)?\s*\w+$", "", each.strip()) for each in found[1].split(","))
