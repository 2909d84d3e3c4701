"""Checked launches: the settings, guarded copies of the arrays, and the traffic that is counted."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from lessons.cuda_on_cpu.arguments import Array

GUARD = 4096  # bytes before and after each array that belong to nobody


@dataclass(frozen=True)
class Traffic:
    """The bytes of global memory that one launch reads and writes.

    bytes_read and bytes_written count each number once, however often it is touched: the least that must
    move. loads and stores count every access: what would move without any cache.
    """

    kernel: str
    bytes_read: int
    bytes_written: int
    loads: int
    stores: int

    @property
    def bytes_moved(self) -> int:
        """Read and written, each number counted once."""
        return self.bytes_read + self.bytes_written


@dataclass
class Checking:
    """The way in which launches are carried out: with a seed for the order of threads, checked or not."""

    seed: int
    checked: bool
    launches: list[Traffic] = field(default_factory=list)


_current = Checking(seed=0, checked=False)


def current() -> Checking:
    """The way in which launches are carried out now."""
    return _current


def checking(seed: int = 0) -> contextlib.AbstractContextManager[Checking]:
    """Check every launch inside `with checking() as checks:`, and count its bytes in checks.launches.

    A launch raises LaunchError if two threads touch the same bytes, one of them writing, with no barrier
    between; if an access is outside the arrays or not aligned; if shared memory is read before it is written.
    It takes some ten times as long.
    """
    return _carried_out(Checking(seed, True))


def thread_order(seed: int) -> contextlib.AbstractContextManager[Checking]:
    """Carry out launches inside with blocks and threads in the order of this seed, unchecked."""
    return _carried_out(Checking(seed, False))


@contextlib.contextmanager
def _carried_out(way: Checking) -> Iterator[Checking]:
    global _current
    before, _current = _current, way
    try:
        yield way
    finally:
        _current = before


class CheckedArray(ctypes.Structure):
    """runtime/checks.cpp has the same fields."""

    _fields_ = (
        ("start", ctypes.c_ulonglong),
        ("bytes", ctypes.c_ulonglong),
        ("item_bytes", ctypes.c_ulonglong),
        ("cells", ctypes.c_void_p),
        ("argument", ctypes.c_int),
        ("read", ctypes.c_ulonglong),
        ("written", ctypes.c_ulonglong),
        ("loads", ctypes.c_ulonglong),
        ("stores", ctypes.c_ulonglong),
    )


class CheckedArrays(ctypes.Structure):
    """runtime/checks.cpp has the same fields."""

    _fields_ = (("arrays", ctypes.POINTER(CheckedArray)), ("count", ctypes.c_int))


class Guarded:
    """Copies of a launch's arrays, far enough from each other that no index reaches from one into the next.

    Arrays that overlap are copied as one. Alignment stays as it was.
    """

    def __init__(self, arrays: list[Array]) -> None:
        self.joined: list[Array] = []  # the first of each group; nbytes of all
        for array in sorted(arrays, key=lambda array: array.address):
            last = self.joined[-1] if self.joined else None
            if last and array.address < last.address + last.nbytes:
                end = max(last.address + last.nbytes, array.address + array.nbytes)
                items = min(last.itemsize, array.itemsize)
                self.joined[-1] = Array(last.number, last.address, end - last.address, items)
            else:
                self.joined.append(array)
        self._memory, self._places = [], []
        for array in self.joined:
            memory = np.zeros(array.nbytes + 2 * GUARD + 256, np.uint8)
            place = memory.ctypes.data + GUARD
            place += (array.address - place) % 256
            ctypes.memmove(place, array.address, array.nbytes)
            self._memory.append(memory)
            self._places.append(place)
        self._table = (CheckedArray * len(self.joined))()
        for row, array, place in zip(self._table, self.joined, self._places, strict=True):
            row.start, row.bytes, row.item_bytes = place, array.nbytes, array.itemsize
            row.argument = array.number
        self.struct = CheckedArrays(self._table, len(self.joined))

    def address(self, array: Array) -> int:
        """The address of an array in its guarded copy."""
        for joined, place in zip(self.joined, self._places, strict=True):
            if joined.address <= array.address < joined.address + joined.nbytes:
                return place + array.address - joined.address
        return array.address

    def copy_back(self) -> None:
        """Put into the arrays what the launch has written."""
        for row, array, place in zip(self._table, self.joined, self._places, strict=True):
            if row.stores:  # the others may be read-only, as those of a mapped file
                ctypes.memmove(array.address, place, array.nbytes)

    def traffic(self, kernel: str) -> Traffic:
        """The traffic of the launch: the bytes that it has read and written."""
        names = ("read", "written", "loads", "stores")
        return Traffic(kernel, *(sum(getattr(row, name) for row in self._table) for name in names))
