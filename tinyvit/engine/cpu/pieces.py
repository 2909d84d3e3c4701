"""A few rows at a time, so that they are still in a core's cache when the next pass over them begins."""

from __future__ import annotations

from collections.abc import Iterator

PIECE = 32_768  # numbers in a piece: four arrays of this size take half of a cache of 1 MiB


def pieces(rows: int, width: int) -> Iterator[slice]:
    """Slices that cover so many rows of this width."""
    count = max(1, PIECE // width)
    return (slice(start, min(rows, start + count)) for start in range(0, rows, count))
