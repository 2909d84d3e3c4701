"""Lesson 17: pretrained weights. Fill in the functions, then run: pytest lessons/17_pretrained"""

import numpy as np  # noqa: F401 - you will want it

from tinyvit.gradcheck import check_gradients  # noqa: F401 - the tool of lesson 2, for trust_resize


def attention_from_official(query, key, value, out):
    """One attention layer of an official checkpoint, laid out as tinyvit's.

    Each argument is a pair (kernel, bias). query, key, value: kernel (D, H, K), bias (H, K); out: kernel
    (H, K, D), bias (D,); with H K = D. Returns qkv_weight (D, 3D), qkv_bias (3D,), out_weight (D, D) and
    out_bias (D,). The columns of qkv go through q, k, v first, then the heads, then K.
    """
    raise NotImplementedError("write attention_from_official: equations a and b, for all numbers at once")


def resize_matrix(n, m, method):
    """The matrix (m, n), float64, that resizes n values in a row to m; method is 'corners' or 'bilinear'.

    Row i holds the shares that value i of the new row takes of the old ones. Beyond the border the outermost
    value is repeated. m may be smaller than n, and either may be 1.
    """
    raise NotImplementedError("write resize_matrix: where row i reads, then the shares of its two neighbours")


def trust_resize(forward, backward):
    """True if, by gradient checks, backward(dy, cache) returns the gradient of the images, otherwise False.

    forward(images, size, method) is right and resizes images (B, H, W, C) to size (height, width) by the
    method 'corners' or 'bilinear'. It returns (y, cache), y (B, height, width, C). check_gradients calls
    forward with the images alone, and returns a list with the error of their gradient.
    """
    raise NotImplementedError("write trust_resize: check_gradients for sizes that hide nothing")


# The puzzle: a model was trained on pixels of another scale. Make it accept tinyvit's.


def embedding_for_our_pixels(weight, bias, mean, std):
    """The patch embedding, weight (P P C, D) and bias (D,), of a model that gets tinyvit's pixels instead.

    The model was trained on (u - mean) / std, with pixels u from 0 to 1. mean and std: C numbers each, arrays
    or tuples, one number for each channel. tinyvit's pixels run from -1 to 1. Rows of weight go through the
    patch's rows, its columns, then the channels. Returns a weight and a bias with which the model computes
    the same function of the image, in their dtype.
    """
    raise NotImplementedError("write embedding_for_our_pixels: write one scale as a function of the other")
