"""A launch from a kernel's own signature: the types of its numbers, what it reads and what it writes."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

import numpy as np

from tinyvit.engine.cuda.compiled import FOLDER
from tinyvit.engine.cuda.launch import ITEM_BYTES, Argument, Buffer, Launch

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


WARP = 32  # threads
THREADS = 256  # in a block, where nothing else speaks for another number
MULTIPROCESSORS = 132  # of an H100 or H200, for plans that are made without a card
SHARED_LIMIT = 232_448  # bytes of shared memory that these allow a block


def vector_widths(length: int, largest: int, *buffers: Buffer | None) -> list[int]:
    """The numbers of neighbours, powers of two up to `largest`, that rows of this length can be cut into.

    A vector must lie at a multiple of its own size, so it has to divide the rows' length and the start of
    every buffer in its array. (Arrays themselves begin at a multiple of 16 bytes at least.)
    """
    starts = [buffer.start for buffer in buffers if buffer is not None]
    widths = [1]
    while 2 * widths[-1] <= largest and not any(n % (2 * widths[-1]) for n in (length, *starts)):
        widths.append(2 * widths[-1])
    return widths


def vector_width(width: int, first: Buffer, *others: Buffer | None) -> int:
    """How many neighbours in rows of this width a thread moves at once: at most 16 bytes of the first buffer.

    They divide the width and the place where each buffer starts. A buffer that is None does not matter.
    """
    return vector_widths(width, 16 // ITEM_BYTES[first.dtype], first, *others)[-1]


def blocks(count: int, threads: int = THREADS) -> int:
    """How many blocks of that many threads have at least `count` threads together."""
    return -(-count // threads)


def chunks(rows: int, most: int) -> tuple[int, int]:
    """(number of chunks, rows of a chunk): at most so many chunks; only the last can be short."""
    size = blocks(rows, most)
    return blocks(rows, size), size
