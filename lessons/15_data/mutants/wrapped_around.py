"""Over the edge comes the opposite side, as with np.roll."""

import numpy as np

from tinyvit.ops import drop_path, drop_path_backward

__all__ = ["crop_and_flip", "drop_path", "drop_path_backward"]


def crop_and_flip(images, indices, down, right, flip):
    H, W = images.shape[1:3]
    rows, columns = (np.arange(H) + down[:, None]) % H, (np.arange(W) + right[:, None]) % W
    columns = np.where(flip[:, None], columns[:, ::-1], columns)
    return images[indices[:, None, None], rows[:, :, None], columns[:, None, :]]
