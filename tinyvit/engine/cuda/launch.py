"""A step as data: buffers, kernels to be launched and matrix products, before there is any memory or GPU.

A plan made of these can be carried out, captured as a graph, printed, and have its bytes counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from tinyvit.support.errors import UserError

MOST_BLOCKS = 65_535  # that CUDA allows in the second and third direction of a grid
MOST_THREADS = 2**31 - 1  # in the first direction: kernels number them by an int
FEWER_IMAGES = "give fewer images at a time, in a smaller batch or in more parts of it (accumulate)."
ITEM_BYTES = {"float32": 4, "bfloat16": 2, "uint8": 1, "int32": 4, "uint32": 4}


@dataclass(frozen=True)
class Buffer:
    """An array on the device, by name. A view has the name of the array that it is cut from; start, in
    numbers, is where it begins there."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    start: int = 0

    @property
    def size(self) -> int:
        """Number of values."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.size * ITEM_BYTES[self.dtype]

    @property
    def c_type(self) -> str:
        """The name of its numbers in CUDA C."""
        return {"float32": "float", "bfloat16": "__nv_bfloat16", "uint8": "unsigned char"}.get(
            self.dtype, "unsigned int" if self.dtype == "uint32" else "int"
        )

    def view(self, start: int, *shape: int) -> Buffer:
        """A part of it that begins `start` numbers after its own beginning."""
        if start + prod(shape) > self.size:
            raise ValueError(f"{self} has {self.size} numbers: none for {shape} at {start}")
        return replace(self, shape=shape, start=self.start + start)


Argument = Buffer | np.generic | None  # None is a null pointer


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel.

    file is the stem of its .cu file, function its name there, template arguments included, as in
    "bias_gelu<float, Tanh, 4>". args are in the order of its parameters. reads and writes list the buffers
    among them; moved is the number of bytes it reads and writes, where that is not simply all of these once.
    """

    file: str
    function: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: tuple[Argument, ...]
    reads: tuple[Buffer, ...]
    writes: tuple[Buffer, ...]
    shared_bytes: int = 0
    moved: int | None = None
    multiply_adds: int = 0  # on the tensor cores, if it has products of its own
    label: str = field(default="", compare=False)  # which part of the model it serves, for tables

    def __post_init__(self) -> None:
        if max(self.grid[1:], default=1) > MOST_BLOCKS:
            blocks = " x ".join(f"{count:,}" for count in self.grid) + " blocks"
            raise UserError(
                f"{self.function} has {blocks}, expected at most {MOST_BLOCKS:,} after the first x: "
                f"{FEWER_IMAGES}"
            )
        if (threads := self.grid[0] * self.block[0]) > MOST_THREADS:
            raise UserError(
                f"{self.function} has {threads:,} threads, expected at most {MOST_THREADS:,}: {FEWER_IMAGES}"
            )

    @property
    def bytes_moved(self) -> int:
        """Number of bytes that it reads and writes, each value that it needs counted once."""
        if self.moved is not None:
            return self.moved
        return sum(buffer.nbytes for buffer in (*self.reads, *self.writes))


@dataclass(frozen=True)
class Product:
    """c = a b, or c += a b, for matrices stored row by row; either can be taken transposed.

    Stacks of equally many matrices, (n, rows, columns), are multiplied one by one.
    """

    a: Buffer
    b: Buffer
    c: Buffer
    transpose_a: bool = False
    transpose_b: bool = False
    accumulate: bool = False
    label: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        (*stack, rows, inner), (*others, other, columns) = self._factors
        if inner != other or stack != others or self.c.shape != (*stack, rows, columns):
            raise ValueError(f"{self.a.shape} times {self.b.shape} does not give {self.c.shape}")

    @property
    def reads(self) -> tuple[Buffer, ...]:
        """The buffers that are read."""
        return (self.a, self.b, *((self.c,) if self.accumulate else ()))

    @property
    def writes(self) -> tuple[Buffer, ...]:
        """The buffers that are written."""
        return (self.c,)

    @property
    def count(self) -> int:
        """Number of matrices in a stack; 1 without a stack."""
        return prod(self.c.shape[:-2])

    @property
    def sizes(self) -> tuple[int, int, int]:
        """(rows, inner, columns) of a product of (rows, inner) by (inner, columns)."""
        (*_, rows, inner), (*_, columns) = self._factors
        return rows, inner, columns

    @property
    def _factors(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of a and b as they are multiplied."""
        return _turned(self.a, self.transpose_a), _turned(self.b, self.transpose_b)

    @property
    def multiply_adds(self) -> int:
        """Number of multiplications, each with an addition."""
        return self.c.size * self.sizes[1]

    @property
    def bytes_moved(self) -> int:
        """Number of bytes that it reads and writes, each value counted once."""
        return sum(buffer.nbytes for buffer in (*self.reads, *self.writes))


def _turned(factor: Buffer, transposed: bool) -> tuple[int, ...]:
    """The shape of a factor as it is multiplied."""
    return (*factor.shape[:-2], *factor.shape[:-3:-1]) if transposed else factor.shape


Step = Launch | Product
