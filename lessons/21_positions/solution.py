"""The library's own positions are the model answer; what it has no need of is written out here."""

import numpy as np

from tinyvit.ops import positions_sincos, relative_scores, relative_scores_backward

__all__ = ["guilty_offsets", "plane_scores", "plane_scores_backward", "positions_sincos"]
__all__ += ["relative_scores", "relative_scores_backward"]


def guilty_offsets():
    """It begins at the top of the table, where the rows in use begin if all tokens are queries."""
    rng = np.random.default_rng(0)
    return "diagonal by diagonal", (rng.normal(size=(1, 2, 3, 4)), rng.normal(size=(9, 4)))


def plane_scores(table, grid):
    """For every pair of patches, the number of their offset in the plane, (H, T, T); and the cache."""
    gh, gw = grid
    r, c = np.indices(grid).reshape(2, -1)  # (T,) each
    down = r[:, None] - r + gh - 1  # (T, T)  0 to 2 gh - 2
    across = c[:, None] - c + gw - 1  # (T, T)  0 to 2 gw - 2
    return np.moveaxis(table[down, across], -1, 0), (down, across, table.shape)


def plane_scores_backward(dS, cache):
    """The gradient of plane_scores: dtable (2 gh - 1, 2 gw - 1, H)."""
    down, across, shape = cache
    dtable = np.zeros(shape, dS.dtype)
    np.add.at(dtable, (down, across), np.moveaxis(dS, 0, -1))  # += would count each entry once
    return dtable
