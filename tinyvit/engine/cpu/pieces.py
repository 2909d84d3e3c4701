"""Some rows at a time, so that they are still in a core's cache when the next pass over them begins.

Smaller pieces would be better for the caches, but not for threads. Between two passes a thread needs Python's
global lock for a moment. If another thread has it just then, the first one waits, and waking it takes longer
than a short pass.
"""

from collections.abc import Iterator
from itertools import pairwise

# Numbers in a piece, about: four arrays of this size take 2 MiB. It is the same on every machine, and so are
# the sums that depend on it: a run can be resumed elsewhere.
PIECE = 131_072


def pieces(rows: int, width: int, times: int = 1) -> Iterator[slice]:
    """Slices of nearly equal length that cover so many rows of this width, of about `times` PIECE numbers."""
    count = min(max(1, round(rows * width / (times * PIECE))), rows)
    cuts = [rows * i // count for i in range(count + 1)]
    return (slice(*ends) for ends in pairwise(cuts))
