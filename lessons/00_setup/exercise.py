"""Lesson 0: the way of working. Fill in the function, then run: pytest lessons/00_setup"""

import numpy as np  # noqa: F401 - you will want it


def mean_colours(images):
    """The mean red, green and blue of each image: uint8 (n, H, W, 3) to float64 (n, 3), from 0 to 255."""
    raise NotImplementedError("write mean_colours: for each image, the mean of each channel over its pixels")
