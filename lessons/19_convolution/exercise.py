"""Lesson 19: convolution. Fill in the functions, then run: pytest lessons/19_convolution"""

import numpy as np  # noqa: F401 - you may want it


def windows(x, size, stride=1, padding="SAME", fill=0.0):
    """Cut images x (B, H, W, C) into windows y (B, h, w, size, size, C); return y and a cache.

    padding is "VALID" (windows 2) or "SAME" (windows 3), and pixels outside the image count as fill.
    Raise ValueError for any other padding, and if a VALID window does not fit into the image.
    """
    raise NotImplementedError("write windows: pad a new array, then copy pixel (p, q) of all windows at once")


def windows_backward(dy, cache):
    """The gradient of the images (B, H, W, C) from that of their windows, dy (B, h, w, size, size, C)."""
    raise NotImplementedError("write windows_backward: every use of a pixel sends a gradient back to it")


def convolution(x, kernel, stride=1, padding="SAME"):
    """Apply kernel (k, k, I, O) to images x (B, H, W, I); return y (B, h, w, O) and a cache."""
    raise NotImplementedError("write convolution: your windows, then one matrix product for all of them")


def convolution_backward(dy, cache):
    """dx (B, H, W, I) and dkernel (k, k, I, O) from dy (B, h, w, O)."""
    raise NotImplementedError(
        "write convolution_backward: a linear layer's backward, then that of your windows"
    )


def guilty_max_pool():
    """The name of the backward in suspects.py that is wrong, and images that expose it.

    Return (name, images), images (B, H, W, C) in float64. All three suspects pool windows of 3 x 3 pixels,
    with stride 2 and SAME padding.
    """
    raise NotImplementedError("return the name of a suspect, and images on which its gradient is wrong")


# The puzzle: the gradient of the image is a convolution too.


def gradient_by_convolution(dy, kernel, convolve):
    """dx (B, H, W, I) of a convolution with stride 1 and SAME padding, from dy (B, H, W, O).

    kernel (k, k, I, O) is the one of the forward. convolve(images, kernel) is a convolution with stride 1 and
    VALID padding: call it once, and return what it returns. k may be even.
    """
    raise NotImplementedError("write gradient_by_convolution: which images, and which kernel?")
