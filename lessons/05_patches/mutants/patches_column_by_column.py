"""The patches are numbered down the columns of the image instead of along its rows."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError(f"image of {H} x {W} pixels cannot be cut into patches of {patch} x {patch}")
    x = images.reshape(B, H // patch, patch, W // patch, patch, C).transpose(0, 3, 1, 2, 4, 5)
    return x.reshape(B, -1, patch * patch * C), (images.shape, patch)


def unpatchify(patches, shape, patch):
    B, H, W, C = shape
    x = patches.reshape(B, W // patch, H // patch, patch, patch, C).transpose(0, 2, 3, 1, 4, 5)
    return x.reshape(shape)


def patchify_backward(dy, cache):
    return unpatchify(dy, *cache)
