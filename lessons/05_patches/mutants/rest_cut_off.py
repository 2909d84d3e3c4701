"""Pixels that do not fill a patch are cut off without a word."""

from pathlib import Path

from lessons.mutation import changed
from tinyvit.ops import patchify as right

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def patchify(images, patch):
    _, H, W, _ = images.shape
    return right(images[:, : H - H % patch, : W - W % patch], patch)
