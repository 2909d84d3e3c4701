"""dy moves the columns, and dx the rows."""

from tinyvit.data import crop_and_flip as right
from tinyvit.ops import drop_path, drop_path_backward

__all__ = ["crop_and_flip", "drop_path", "drop_path_backward"]


def crop_and_flip(images, indices, dy, dx, flip):
    return right(images, indices, dx.clip(1 - images.shape[1], images.shape[1] - 1), dy, flip)
