"""Relative positions in the plane, as BEiT has them (Bao et al. 2021), forward and backward.

Each head learns a score t for every offset of a key from its query, in rows and columns. It is added to the
score of the two:

    S_qk = q . k / sqrt(K) + t(row of q - row of k, column of q - column of k)             (1)

For h rows and w columns of patches, there are (2h - 1)(2w - 1) offsets, in the table row by row; and three
more rows if there is a class token: from it to a patch, from a patch to it, and to itself.

Backward: each score's gradient is added to the entry of the table that it was read from.

    dt = sum of dS over all images, and all queries and keys with that offset              (2)
"""

from functools import lru_cache

import numpy as np

from tinyvit.backend import Array, array_module


def relative_bias(table: Array, grid: tuple[int, int], has_token: bool) -> tuple[Array, tuple]:
    """The scores (H, N, N) that a table ((2h-1)(2w-1) + 3, H) adds, or one without the 3; and the cache."""
    index = array_module(table).asarray(_index(grid, has_token))
    return table[index].transpose(2, 0, 1), (grid, has_token)  #                             eq. 1


def relative_bias_backward(dscores: Array, cache: tuple) -> Array:
    """Gradient of relative_bias: dtable, from dscores (H, N, N)."""
    xp = array_module(dscores)
    index, rows = xp.asarray(_index(*cache)).ravel(), table_rows(*cache)
    sums = [xp.bincount(index, dscore.ravel(), rows) for dscore in dscores]  #               eq. 2
    return xp.stack(sums, axis=1).astype(dscores.dtype)


def table_rows(grid: tuple[int, int], has_token: bool) -> int:
    """Number of rows of the table."""
    h, w = grid
    return (2 * h - 1) * (2 * w - 1) + 3 * has_token


@lru_cache(maxsize=8)
def _index(grid: tuple[int, int], has_token: bool) -> np.ndarray:
    """The row of the table that each query (first axis) and key reads: (N, N)."""
    h, w = grid
    y, x = (side.reshape(-1) for side in np.meshgrid(np.arange(h), np.arange(w), indexing="ij"))
    dy, dx = y[:, None] - y, x[:, None] - x  # (T, T)
    index = (dy + h - 1) * (2 * w - 1) + dx + w - 1
    if not has_token:
        return index
    to_patch, to_token, itself = table_rows(grid, True) - np.array([3, 2, 1])
    index = np.pad(index, ((1, 0), (1, 0)))
    index[0], index[:, 0], index[0, 0] = to_patch, to_token, itself
    return index
