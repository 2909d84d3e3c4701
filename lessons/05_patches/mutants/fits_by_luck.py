"""The number of patch rows is left to the reshape: a height that P does not divide may still fit."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def patchify(images, patch):
    B, _, W, C = images.shape
    x = images.reshape(B, -1, patch, W // patch, patch, C).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(B, -1, patch * patch * C), (images.shape, patch)
