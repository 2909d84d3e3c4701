"""All three are the library's own."""

from tinyvit.data import crop_and_flip
from tinyvit.ops import drop_path, drop_path_backward

__all__ = ["crop_and_flip", "drop_path", "drop_path_backward"]
