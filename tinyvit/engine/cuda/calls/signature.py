"""A launch from a kernel's own signature: the types of its numbers, what it reads and what it writes."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

import numpy as np

from tinyvit.engine.cuda.compiled import FOLDER
from tinyvit.engine.cuda.launch import ITEM_BYTES, Argument, Buffer, Launch

_NUMBERS = {"int": np.int32, "float": np.float32}


WARP = 32  # threads
THREADS = 256  # in a block, where nothing else speaks for another number
MULTIPROCESSORS = 132  # of an H100 or H200, for plans that are made without a card
SHARED_LIMIT = 232_448  # bytes of shared memory that these allow a block


def launch(
    function: str,
    grid: int | tuple[int, ...],
    args: tuple[Buffer | float | None, ...],
    block: int | tuple[int, ...] = THREADS,
    in_place: Collection[Buffer] = (),
    parts: Mapping[str, tuple[Buffer, ...]] | None = None,
    **more: Any,
) -> Launch:
    """The launch of a kernel, such as "bias_tanh<float, 4>"; args are in the order of its parameters.

    Const pointers are inputs, the others outputs; in_place are outputs that are also read. parts says, by the
    buffer's name, of which only some parts are touched. more are fields of Launch. Raises ValueError if there
    is no such kernel, or if it has another number of parameters.
    """
    name = function.partition("<")[0]
    if name not in signatures():
        raise ValueError(f"there is no kernel {name}")
    file, types = signatures()[name]
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
    return Launch(
        file, function, _shape(grid), _shape(block), tuple(typed), tuple(reads), tuple(writes), **more
    )


def _shape(sizes: int | tuple[int, ...]) -> tuple[int, ...]:
    return sizes if isinstance(sizes, tuple) else (sizes,)


@cache
def signatures() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Every kernel by name: the stem of its .cu file, and the types of its parameters, such as "const T*"."""
    kernels_by_name = {}
    for path in sorted(FOLDER.glob("*.cu")):
        kernels = re.findall(r"__global__[^;{}]*?\b(\w+)\(([^(){}]*)\)\s*{", path.read_text("utf-8"))
        for name, parameters in kernels:
            types = (re.sub(r"\s*(__restrict__)?\s*\w+$", "", one.strip()) for one in parameters.split(","))
            kernels_by_name[name] = path.stem, tuple(types)
    return kernels_by_name


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
    """Number of neighbours in a row that a thread moves at once: at most 16 bytes of the first buffer.

    They divide the width and the place where each buffer starts. A buffer that is None does not matter.
    """
    return vector_widths(width, 16 // ITEM_BYTES[first.dtype], first, *others)[-1]


def blocks(count: int, threads: int = THREADS) -> int:
    """Number of blocks of that many threads that have at least `count` threads together."""
    return -(-count // threads)


def chunks(rows: int, most: int) -> tuple[int, int]:
    """(number of chunks, rows of a chunk): at most `most` chunks; only the last can be short."""
    size = blocks(rows, most)
    return blocks(rows, size), size
