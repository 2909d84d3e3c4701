"""The normalisation of LayerNorm, forward and backward, on rows (R, D); see ops.layer_norm.

The gain and the offset are not here, since they are folded into the next matrix. The backward pass need not
remove the mean of the incoming gradient, since the folded matrix has no component along a constant. See
engine.cpu.folding.
"""

import numpy as np

from tinyvit.engine.cpu.products import pieces
from tinyvit.ops.layer_norm import row_means


def normalise(x: np.ndarray, eps: float, bias: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """n (R, D), the rows of x (R, D) + bias (D,) with mean 0 and variance 1, and their scale r (R, 1).

    The bias is added in place.
    """
    n, r = np.empty_like(x), np.empty((len(x), 1), dtype=x.dtype)
    for rows in pieces(*x.shape):
        if bias is not None:
            x[rows] += bias
        _normalise_piece(x[rows], eps, n[rows], r[rows])
    return n, r


def layer_norm(
    x: np.ndarray, gain: np.ndarray, offset: np.ndarray, eps: float, bias: np.ndarray | None = None
) -> np.ndarray:
    """The whole LayerNorm of the rows of x (R, D) + bias (D,), for inference. The bias is added in place."""
    y, r = np.empty_like(x), np.empty((len(x), 1), dtype=x.dtype)
    for rows in pieces(*x.shape):
        x_, y_ = x[rows], y[rows]
        if bias is not None:
            x_ += bias
        _normalise_piece(x_, eps, y_, r[rows])
        y_ *= gain
        y_ += offset
    return y


def _normalise_piece(x: np.ndarray, eps: float, n: np.ndarray, r: np.ndarray) -> None:
    """Write the normalised rows of x (R, D) to n (R, D), and 1 / sqrt(variance + eps) to r (R, 1)."""
    np.subtract(x, row_means(x), out=n)
    np.vecdot(n, n, out=r[:, 0])
    r *= 1 / n.shape[1]
    r += eps
    np.sqrt(r, out=r)
    np.reciprocal(r, out=r)
    n *= r


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
