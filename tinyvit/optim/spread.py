"""Work on flat buffers is cut into independent pieces; these are carried out one after another, or by the
threads of an engine."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tinyvit.backend import Array, array_module

Work = Callable[[Any], Any]
ParallelMap = Callable[[Work, Iterable], list]

_CHUNK = 1 << 17  # numbers: few enough for the caches, and enough that threads seldom wait for each other


@dataclass(eq=False)
class Piece:
    """A part of a flat buffer; its first `decayed` values are subject to weight decay."""

    flat: Array
    decayed: int

    @property
    def count(self) -> int:
        """Number of values."""
        return self.flat.size


def one_after_another(work: Work, pieces: Iterable) -> list:
    """work(piece) for all pieces, in order."""
    return [work(piece) for piece in pieces]


def chunks(flat: Array, decayed: int = 0) -> list[slice]:
    """A flat buffer in pieces; on a CPU, short enough to stay in the cache.

    The first `decayed` values decay. A piece is cut where they end, so that each lies wholly among them or
    wholly outside.

    Ten operations on a long buffer take ten trips to memory; on a short piece they take one. A GPU does not
    benefit from this, so there are at most two pieces.
    """
    size = _CHUNK if array_module(flat) is np else max(flat.size, 1)
    cuts = [*range(0, decayed, size), *range(decayed, flat.size, size), flat.size]
    return [slice(start, stop) for start, stop in pairwise(cuts)]
