"""Tables of positions in the plane (ViT appendix D.4), one row for each patch of a grid, in reading order.

A learned table with a vector for every patch (see position_embedding) knows nothing of rows and columns. Two
other tables do. In the first, a patch in row r and column c has half of its D numbers from a learned vector
of its row, and half from one of its column:

    e_(r, c) = [a_r, b_c]                                 a (gh, D/2), b (gw, D/2)         (1)

The second is fixed: sines and cosines of c and r at F = D/4 frequencies, from 1 down to 1/10000, as in
big_vision:

    e_(r, c) = [sin(w c), cos(w c), sin(w r), cos(w r)]   w_i = 10000^(-i / (F - 1))       (2)

Backward of (1): a_r is in all patches of its row, and b_c in all of its column, so each sums their gradients:

    da_r = sum over c of the first half of de_(r, c)                                       (3)
    db_c = sum over r of the second half of de_(r, c)                                      (4)

Nothing in (2) is learned.
"""

import numpy as np

from tinyvit.backend import Array, array_module

TEMPERATURE = 10_000.0


def positions_2d(rows: Array, columns: Array) -> tuple[Array, tuple[int, int]]:
    """The table (gh * gw, D) of rows (gh, D/2) and columns (gw, D/2), and the cache."""
    (gh, half), gw = rows.shape, len(columns)
    table = array_module(rows).empty((gh, gw, 2 * half), dtype=rows.dtype)
    table[..., :half] = rows[:, None]
    table[..., half:] = columns  #                                                           eq. 1
    return table.reshape(gh * gw, 2 * half), (gh, gw)


def positions_2d_backward(dtable: Array, cache: tuple[int, int]) -> tuple[Array, Array]:
    """Gradients of positions_2d: drows (gh, D/2), dcolumns (gw, D/2)."""
    dtable = dtable.reshape(*cache, -1)  # (gh, gw, D)
    half = dtable.shape[2] // 2
    return dtable[..., :half].sum(axis=1), dtable[..., half:].sum(axis=0)  #                 eq. 3, 4


def positions_sincos(grid: tuple[int, int], width: int) -> np.ndarray:
    """The fixed table (gh * gw, width), float64, of a grid (gh, gw); 4 must divide width."""
    frequencies = width // 4
    w = TEMPERATURE ** (-np.arange(frequencies) / max(frequencies - 1, 1))  # (F,)
    r, c = (place.reshape(-1, 1) * w for place in np.indices(grid))  # (gh * gw, F) each
    return np.concatenate([np.sin(c), np.cos(c), np.sin(r), np.cos(r)], axis=1)  #           eq. 2
