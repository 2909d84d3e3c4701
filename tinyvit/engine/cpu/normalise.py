"""The normalisation of LayerNorm, forward and backward, on rows (R, D); see ops.layer_norm.

The gain and the offset are not here, since they are folded into the next matrix. The backward pass need not
remove the mean of the incoming gradient, since the folded matrix has no component along a constant. See
engine.cpu.folding.
"""

from __future__ import annotations

import numpy as np

from tinyvit.engine.cpu.pieces import pieces


def normalise(x: np.ndarray, eps: float, bias: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """n (R, D), the rows of x + bias with mean 0 and variance 1, and r (R, 1), what they were scaled by.

    bias (D,), if given, is added to x (R, D) in place.
    """
    R, D = x.shape
    n, r = np.empty_like(x), np.empty((R, 1), dtype=x.dtype)
    column = np.full((D, 1), 1 / D, dtype=x.dtype)
    for rows in pieces(R, D):
        x_, n_, r_ = x[rows], n[rows], r[rows]
        if bias is not None:
            x_ += bias
        np.subtract(x_, x_ @ column, out=n_)  # the mean as a product: see ops.layer_norm.row_means
        np.vecdot(n_, n_, out=r_[:, 0])
        r_ *= 1 / D
        r_ += eps
        np.sqrt(r_, out=r_)
        np.reciprocal(r_, out=r_)
        n_ *= r_
    return n, r


def add_normalise_backward(dx: np.ndarray, g: np.ndarray, n: np.ndarray, r: np.ndarray) -> None:
    """Add to dx (R, D) the gradient r (g - n mean(g n)), for the gradient g (R, D) of n. g is overwritten.

    The rows of g must have mean 0.
    """
    R, D = dx.shape
    for rows in pieces(R, D):
        dx_, g_, n_ = dx[rows], g[rows], n[rows]
        c = np.vecdot(g_, n_)[:, None]
        c *= -1 / D
        g_ += n_ * c
        g_ *= r[rows]
        dx_ += g_
