"""How work on flat buffers is cut into independent pieces, and how these are carried out: one after another,
unless an engine knows better."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tinyvit.backend import array_module

if TYPE_CHECKING:
    from tinyvit.model.params import Params
    from tinyvit.optim.sharded import Piece

Work = Callable[[Any], Any]
Spread = Callable[[Work, Iterable], list]

_CHUNK = 1 << 17  # numbers: few enough for the caches, and enough that threads seldom wait for each other


def one_after_another(work: Work, pieces: Iterable) -> list:
    """work(piece) for all pieces, in order."""
    return [work(piece) for piece in pieces]


def chunks(params: Params | Piece) -> list[slice]:
    """The buffer in pieces, each with or without weight decay; on a CPU, short enough to stay in the cache.

    Ten operations on a long buffer take ten trips to memory; on a short piece they take one. A GPU does not
    benefit from this, so there are only two pieces.
    """
    size = _CHUNK if array_module(params.flat) is np else params.count
    cuts = [*range(0, params.decayed, size), *range(params.decayed, params.count, size), params.count]
    return [slice(start, stop) for start, stop in pairwise(cuts)]
