"""Softmax over the last axis, forward and backward.

    y_i = exp(x_i) / sum_j exp(x_j)                                                        (1)

Adding a constant to the whole row changes nothing, so the row's largest entry is subtracted first to keep exp
from overflowing.

Backward. With [i = j] for 1 if i equals j and 0 otherwise,

    dy_j/dx_i = y_j ([i = j] - y_i)                                                        (2)

and summing dy_j times (2) over j, where dy_j is now the gradient that arrives at y_j:

    dx_i = y_i (dy_i - sum_j dy_j y_j)                                                     (3)

The sum of (3) over i is zero: the gradient has no component along the constant that softmax ignores.
"""

import numpy as np

from tinyvit.backend import Array, array_module


def softmax(x: Array) -> tuple[Array, Array]:
    """Softmax of x (..., N) over the last axis; returns y, with x's shape and dtype, and the cache."""
    xp = array_module(x)
    y = x - x.max(axis=-1, keepdims=True)  # (..., N)
    xp.exp(y, out=y)
    y /= row_sums(y)  #                                                                      eq. 1
    return y, y


def softmax_backward(dy: Array, cache: Array) -> Array:
    """Gradient of softmax: dx (..., N)."""
    y = cache
    dx = dy - row_sums(dy * y)
    dx *= y  #                                                                               eq. 3
    return dx


def row_sums(x: Array) -> Array:
    """Sum over the last axis, which is kept: (..., N) to (..., 1), on a CPU as a product (see row_means)."""
    N, xp = x.shape[-1], array_module(x)
    if xp is not np:
        return x.sum(axis=-1, keepdims=True)
    column = xp.ones((N, 1), dtype=x.dtype)
    return (x.reshape(-1, N) @ column).reshape(*x.shape[:-1], 1)
