"""What the processes that train one model together ask of each other; here, one process on its own.

Each process is a rank, numbered from 0. A method that is called a collective must be called by all ranks, in
the same order: it returns only when all have called it. With one process every collective returns at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # this is imported by every command before anything that takes long
    import numpy as np

    from tinyvit.backend import Array

T = TypeVar("T")


class Ranks:
    """One process on its own, and the interface of several.

    rank is the number of this process among `size`, and local_rank its number among those of this machine.
    neighbours holds, for each of the latter, the set of cores that it may run on (None: not known).
    """

    rank = 0
    size = 1
    local_rank = 0
    neighbours: tuple[frozenset[int] | None, ...] = ()

    @property
    def is_first(self) -> bool:
        """Whether this is rank 0, which alone prints and writes files."""
        return self.rank == 0

    def part(self, count: int) -> slice:
        """This rank's share of `count` things, in order: as many as that of any other, give or take one."""
        return parts(count, self.size)[self.rank]

    def all_reduce(self, flat: Array) -> None:
        """Replace a flat array, in place, by the sum of those of all ranks. A collective."""

    def reduce_scatter(self, flat: Array) -> None:
        """Replace this rank's part of a flat array by its sum over all ranks; the rest is then undefined.

        A collective.
        """

    def all_gather(self, flat: Array) -> None:
        """Fill a flat array, of which each rank has written its own part, with all parts. A collective."""

    def sum(self, number: Array) -> Array:
        """The sum of a number of each rank, an array without axes. A collective."""
        return number

    def max(self, number: int) -> int:
        """The largest of a whole number of each rank. A collective."""
        return number

    def gather_rows(self, rows: np.ndarray) -> np.ndarray:
        """The rows of all ranks, those of rank 0 first. A collective."""
        return rows

    def first(self, function: Callable[..., T], *args: object) -> T:
        """What the function returns on rank 0, which alone calls it. A collective.

        If it raises UserError or OSError, all ranks do. What it returns is copied to the others by pickling.
        """
        return function(*args)

    def in_turn(self, function: Callable[..., T], *args: object) -> T:
        """What the function returns on this rank, called first by one rank of each machine. A collective.

        So a download that each needs is made once. If it raises UserError or OSError on a rank, all do.
        """
        return function(*args)

    def check_same(self, value: Hashable, what: str) -> None:
        """Raise UserError on all ranks if this value is not that of rank 0 on any of them. A collective."""

    def all_failed(self) -> bool:
        """Called by a rank that has failed: whether all others have failed too, within seconds."""
        return True

    def abort(self, status: int) -> None:
        """End all ranks at once, with this exit status; one process alone ends in its own way."""


ALONE = Ranks()


def parts(count: int, size: int) -> list[slice]:
    """`count` things in `size` runs of nearly equal length, in order, as numpy.array_split cuts them."""
    short, longer = divmod(count, size)
    starts = [rank * short + min(rank, longer) for rank in range(size + 1)]
    return [slice(a, b) for a, b in pairwise(starts)]
