"""A reshape alone, where a transpose is needed too: each "patch" is a stretch of pixel rows."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError(f"image of {H} x {W} pixels cannot be cut into patches of {patch} x {patch}")
    return images.reshape(B, -1, patch * patch * C), (images.shape, patch)


def unpatchify(patches, shape, patch):
    return patches.reshape(shape)


def patchify_backward(dy, cache):
    return unpatchify(dy, *cache)
