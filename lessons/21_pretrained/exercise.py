"""Lesson 21: pretrained weights. Fill in the three functions, then run: pytest lessons/21_pretrained"""

import numpy as np  # noqa: F401 - you will want it


def attention_from_official(query, key, value, out):
    """One attention layer of an official checkpoint, laid out as tinyvit's.

    Each argument is a pair (kernel, bias). query, key, value: kernel (D, H, K), bias (H, K); out: kernel
    (H, K, D), bias (D,); with H K = D. Returns qkv_weight (D, 3D), qkv_bias (3D,), out_weight (D, D) and
    out_bias (D,). The columns of qkv go through q, k, v first, then the heads, then K.
    """
    raise NotImplementedError(
        "write attention_from_official: equations 1 and 2, reshape each array, join three"
    )


def resize_matrix(n, m, method):
    """The matrix (m, n), float64, that resizes n values in a row to m; method is 'corners' or 'bilinear'.

    Row i holds the shares that value i of the new row takes of the old ones: equations resize 2 to 4. Beyond
    the border the outermost value goes on. m may be smaller than n, and either may be 1.
    """
    raise NotImplementedError("write resize_matrix: where row i reads, then the shares of its two neighbours")


def ridge_weights(X, Y, ridge):
    """The W (F, C) that makes |X W - Y|^2 + ridge |W|^2 least, for X (n, F) and Y (n, C).

    Solves the smaller system: F x F if n >= F, n x n otherwise. float32 in, float32 out.
    """
    raise NotImplementedError("write ridge_weights: equation few shot 4, or few shot 5 where n < F")
