"""The linear layer, forward and backward.

Every row of x, of width I, is mapped to a row of width O by a matrix stored input-by-output:

    y = x W + b            y_no = sum_i x_ni W_io + b_o                                    (1)

Backward. x_ni affects the loss through all O entries of row n of y; W_io and b_o affect it through entry o of
every row:

    dx_ni = sum_o dy_no W_io             dx = dy W^T                                       (2)
    dW_io = sum_n x_ni dy_no             dW = x^T dy                                       (3)
    db_o  = sum_n dy_no                  db = column sums of dy                            (4)

The shapes alone allow nothing else: dW (I, O) can only be (I, rows) times (rows, O).
"""

import numpy as np

from tinyvit.backend import Array, array_module


def linear(x: Array, weight: Array, bias: Array) -> tuple[Array, tuple]:
    """x (..., I) times weight (I, O) plus bias (O,); returns y (..., O) and the cache.

    All rows go into a single 2-D matrix product, which is what BLAS and cuBLAS do fastest.
    """
    rows = x.reshape(-1, x.shape[-1])  # (R, I)
    y = rows @ weight  # (R, O)
    y += bias  #                                                                             eq. 1
    return y.reshape(*x.shape[:-1], -1), (rows, weight)


def linear_backward(dy: Array, cache: tuple) -> tuple[Array, Array, Array]:
    """Gradients of linear: dx (..., I), dweight (I, O), dbias (O,)."""
    rows, weight = cache
    dy_rows = dy.reshape(-1, dy.shape[-1])  # (R, O)
    dx = dy_rows @ weight.T  # (R, I)                                                        eq. 2
    dweight = rows.T @ dy_rows  # (I, O)                                                     eq. 3
    dbias = column_sums(dy_rows)  # (O,)                                                     eq. 4
    return dx.reshape(*dy.shape[:-1], -1), dweight, dbias


def column_sums(rows: Array) -> Array:
    """Sum of rows (R, O) over R.

    On a CPU, a product with a row of ones is faster than a reduction. On a GPU, products may be computed in
    TF32, which would round every number that is summed.
    """
    xp = array_module(rows)
    return xp.ones(len(rows), dtype=rows.dtype) @ rows if xp is np else rows.sum(axis=0)
