"""Patch rows and columns are mixed up when the image is put together: a square image hides it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def unpatchify(patches, shape, patch):
    B, H, W, C = shape
    x = patches.reshape(B, W // patch, H // patch, patch, patch, C)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(shape)


def patchify_backward(dy, cache):
    return unpatchify(dy, *cache)
