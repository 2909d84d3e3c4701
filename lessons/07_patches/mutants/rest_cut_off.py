"""Pixels that do not fill a patch are cut off without a word."""

from tinyvit.ops import patchify as right
from tinyvit.ops import patchify_backward, unpatchify

__all__ = ["patchify", "patchify_backward", "unpatchify"]


def patchify(images, patch):
    _, H, W, _ = images.shape
    return right(images[:, : H - H % patch, : W - W % patch], patch)
