"""Layer normalisation (Ba et al. 2016; ViT eq. 2-4), forward and backward.

Each row of x, of width D, is shifted to mean 0 and scaled to variance 1, then given a learned gain and
offset:

    n = (x - mean(x)) r        r = 1 / sqrt(var(x) + eps)                                  (1)
    y = n * weight + bias                                                                  (2)

Backward. g = dy * weight is the gradient that reaches n. An entry x_i moves every n_j of its row along
three paths:

    directly, when i = j:      r                                                           (3)
    through the mean:         -r / D                since dmean/dx_i = 1 / D               (4)
    through r:                -r n_i n_j / D        since dr/dx_i = -r^2 n_i / D           (5)

and summing g_j dn_j/dx_i over j:

    dx = r (g - mean(g) - n mean(g n))                                                     (6)
    dweight = sum over rows of dy * n          dbias = sum over rows of dy                 (7)

Adding a constant to a row of x does not change y, nor does scaling the row, up to eps. Accordingly, (6)
removes from g its component along a constant and, up to eps, its component along n.
"""

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.ops.linear import column_sums


def layer_norm(x: Array, weight: Array, bias: Array, eps: float = 1e-6) -> tuple[Array, tuple]:
    """Normalise the last axis. x (..., D), weight and bias (D,); returns y (..., D) and the cache."""
    xp = array_module(x)
    n = x - row_means(x)  # (..., D)
    r = 1 / xp.sqrt(row_means(n * n) + eps)  # (..., 1)
    n *= r  # (..., D)                                                                       eq. 1
    y = n * weight
    y += bias  # (..., D)                                                                    eq. 2
    return y, (n, r, weight)


def layer_norm_backward(dy: Array, cache: tuple) -> tuple[Array, Array, Array]:
    """Gradients of layer_norm: dx (..., D), dweight (D,), dbias (D,)."""
    n, r, weight = cache
    D = dy.shape[-1]
    dweight = column_sums((dy * n).reshape(-1, D))  # (D,)                                   eq. 7
    dbias = column_sums(dy.reshape(-1, D))  # (D,)                                           eq. 7
    g = dy * weight  # (..., D)
    dx = g - row_means(g)
    dx -= n * row_means(g * n)
    dx *= r  # (..., D)                                                                      eq. 6
    return dx, dweight, dbias


def row_means(x: Array) -> Array:
    """Mean over the last axis, which is kept: (..., D) to (..., 1).

    Computed as a product with a column of 1/D: on short rows, BLAS is about three times faster than a
    reduction. Not on a GPU, where products may be computed in TF32, which would round every number.
    """
    D, xp = x.shape[-1], array_module(x)
    if xp is not np:
        return x.mean(axis=-1, keepdims=True)
    column = xp.full((D, 1), 1 / D, dtype=x.dtype)
    return (x.reshape(-1, D) @ column).reshape(*x.shape[:-1], 1)
