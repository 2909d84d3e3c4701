"""One line for the exercise and one for the puzzle, with a reason for each of their parts."""

import numpy as np


def mean_colours(images):
    """The mean red, green and blue of each image: uint8 (n, H, W, 3) to float64 (n, 3), from 0 to 255."""
    return images.mean(axis=(1, 2))  # over rows and columns; NumPy adds bytes up in float64 here


def bytes_from_sums(sums):
    """The bytes, uint8 (n, W), whose running sums along each row, kept in bytes, are sums, uint8 (n, W)."""
    return np.diff(sums, axis=1, prepend=np.uint8(0))  # differences wrap round as well, and so undo it
