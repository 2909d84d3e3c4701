"""What is kept is not divided by 1 - rate."""

import numpy as np

from tinyvit.data import crop_and_flip
from tinyvit.ops import drop_path_backward

__all__ = ["crop_and_flip", "drop_path", "drop_path_backward"]


def drop_path(x, rate, noise):
    if noise is None or rate == 0:
        return x, None
    mask = (noise.uniform((x.shape[0], 1, 1), np) >= rate).astype(x.dtype)
    return x * mask, mask
