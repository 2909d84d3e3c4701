"""Lesson 19: fast NumPy. Fill in the three functions, then run: pytest lessons/19_fast_numpy"""

import math  # noqa: F401 - you will want it
from concurrent.futures import ThreadPoolExecutor  # noqa: F401 - and it

import numpy as np  # noqa: F401 - and it

from tinyvit import objectives  # noqa: F401 - and objectives.loss_and_grads


def gelu_tanh(x):
    """GELU of x (at least one axis), tanh form, with one exp: y, shaped and typed as x.

    Makes one new array and works in it; x stays as it was. No nan, however large the numbers of x.
    """
    raise NotImplementedError("write gelu_tanh: equation 3, each operation into the array of the result")


def row_means(x):
    """Mean over the last axis, kept: x (..., D) to (..., 1), in the dtype of x, as a matrix product."""
    raise NotImplementedError("write row_means: equation 4, a product of all rows with a column of 1/D")


def gradients_on_threads(config, params, images, labels, pieces, threads):
    """Loss and gradients of a batch, cut into pieces, on threads; the same bits in every call.

    images (B, H, W, 3), labels (B,). pieces, at most B, says into how many parts the batch is cut; their
    sizes differ by one image at most. `threads` of them are worked on at a time.
    Return the loss of the whole batch, and its gradients: a table like params.zeros_like().
    """
    raise NotImplementedError(
        "write gradients_on_threads: equation 5, with a table of its own for each thread"
    )
