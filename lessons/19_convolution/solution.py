"""The library's own convolution is the model answer; the rest is written out here."""

import numpy as np

from tinyvit.ops import convolution, convolution_backward, windows, windows_backward

__all__ = ["convolution", "convolution_backward", "gradient_by_convolution", "guilty_max_pool"]
__all__ += ["windows", "windows_backward"]


def guilty_max_pool():
    """It takes the padding for zeros, and they are the largest where a window at the border is negative."""
    return "all at once", -np.random.default_rng(0).uniform(1, 2, size=(1, 4, 5, 2))


def gradient_by_convolution(dy, kernel, convolve):
    """Pixel j of x went into windows j + a - p, so in dy the kernel is read backwards."""
    k = len(kernel)
    above = (k - 1) // 2  # what the forward padded; below, it was the rest of k - 1
    sides = (k - 1 - above, above)
    flipped = kernel[::-1, ::-1].swapaxes(2, 3)  # (k, k, O, I)
    return convolve(np.pad(dy, ((0, 0), sides, sides, (0, 0))), flipped)
