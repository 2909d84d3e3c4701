"""Lesson 21: positions. Fill in the functions, then run: pytest lessons/21_positions"""

import numpy as np  # noqa: F401 - you will want it


def positions_sincos(grid, width):
    """The fixed table (gh * gw, width), float64, of a grid (gh, gw) of patches; 4 divides width."""
    raise NotImplementedError("write positions_sincos: equation position tables 2, for every row and column")


def relative_scores(q, table):
    """Scores (B, H, Q, N) that the first Q of N tokens give to all, by offset; and a cache.

    q (B, H, Q, K) are the queries; Q may be smaller than N. table (2N - 1, K) is shared by the heads, and its
    row m is the vector of offset N - 1 - m. No array may hold a vector for every pair of tokens.
    """
    raise NotImplementedError("write relative_scores: one product with the table, then read the rows shifted")


def relative_scores_backward(dS, cache):
    """Gradients of relative_scores: dq (B, H, Q, K) and dtable (2N - 1, K), from dS (B, H, Q, N)."""
    raise NotImplementedError("write relative_scores_backward: put dS where S was read, then two products")


def guilty_offsets():
    """The name of the wrong backward in suspects.py, and inputs that expose it.

    Return (name, (q, table)): arrays (B, H, Q, K) and (2N - 1, K) in float64, with Q at most N.
    """
    raise NotImplementedError("write guilty_offsets: return a name, and (q, table) on which it is wrong")


# The puzzle: offsets in the plane


def plane_scores(table, grid):
    """For every pair of patches, the number that belongs to their offset in the plane; and a cache.

    table (2 gh - 1, 2 gw - 1, H) has H numbers, one for each head, for every offset. Its middle entry belongs
    to a patch and itself. One entry further down belongs to a query one row lower, and one further to the
    right to a query one column further right, than the key. The result is S (H, gh * gw, gh * gw): query,
    then key, both in reading order.
    """
    raise NotImplementedError("write plane_scores: how far apart are two patches, down and across?")


def plane_scores_backward(dS, cache):
    """The gradient of plane_scores: dtable (2 gh - 1, 2 gw - 1, H), from dS (H, gh * gw, gh * gw)."""
    raise NotImplementedError("write plane_scores_backward: many pairs share an entry; let no pair be lost")
