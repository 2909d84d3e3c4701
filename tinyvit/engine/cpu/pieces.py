"""A few rows at a time, so that they are still in a core's cache when the next pass over them begins."""

from __future__ import annotations

from collections.abc import Iterator

# Numbers in a piece: four arrays of this size take half of a cache of 1 MiB. It is the same on every machine,
# and so are the sums that depend on it: a run can be resumed elsewhere.
PIECE = 32_768


def pieces(rows: int, width: int) -> Iterator[slice]:
    """Slices that cover so many rows of this width."""
    count = max(1, PIECE // width)
    return (slice(start, min(rows, start + count)) for start in range(0, rows, count))
