"""Lesson 0: the way of working. Fill in the function, then run: pytest lessons/00_setup"""

import numpy as np  # noqa: F401 - you will want it


def mean_colours(images):
    """The mean red, green and blue of each image: uint8 (n, H, W, 3) to float64 (n, 3), from 0 to 255."""
    raise NotImplementedError("write mean_colours: for each image, the mean of each channel over its pixels")


# The puzzle


def bytes_from_sums(sums):
    """The bytes, uint8 (n, W), whose running sums along each row, kept in bytes, are sums, uint8 (n, W).

    The row 200, 100, 7 has the running sums 200, 300, 307, and in bytes they are 200, 44, 51.
    """
    raise NotImplementedError("write bytes_from_sums: the rows of bytes that were added up")
