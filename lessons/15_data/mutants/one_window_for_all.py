"""Every image gets the window of the first: the batch moves as one."""

from tinyvit.data import crop_and_flip as right
from tinyvit.ops import drop_path, drop_path_backward

__all__ = ["crop_and_flip", "drop_path", "drop_path_backward"]


def crop_and_flip(images, indices, dy, dx, flip):
    return right(images, indices, 0 * dy + dy[0], 0 * dx + dx[0], flip)
