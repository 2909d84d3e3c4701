"""How an optimiser's independent pieces of work are carried out: one after another, unless an engine knows
better."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Work = Callable[[Any], None]
Spread = Callable[[Work, Iterable], object]


def one_after_another(work: Work, pieces: Iterable) -> None:
    """work(piece) for all pieces."""
    for piece in pieces:
        work(piece)
