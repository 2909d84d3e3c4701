"""Blending an image with a duller version of itself, as in Pillow's ImageEnhance:

    result = dull + factor (image - dull)

A factor of 0 gives the dull version, 1 the image as it is, and beyond 1 what was dull becomes the opposite.
"""

import numpy as np

from tinyvit.backend import Array, array_module


def change_colour(images: Array, names: np.ndarray, factors: np.ndarray) -> Array:
    """Images uint8 (m, H, W, 3) with more or less colour: the dull version is grey. factors: (m,)."""
    return blend(luminance(images)[..., None], images, _of_images(factors, images))


def change_sharpness(images: Array, names: np.ndarray, factors: np.ndarray) -> Array:
    """Images uint8 (m, H, W, 3), sharper or less sharp: the dull version is smoothed. factors: (m,)."""
    return blend(_smooth(images), images, _of_images(factors, images))


def blend(dull: Array, images: Array, factor: Array) -> Array:
    """dull + factor (images - dull), rounded down to bytes; dull is int16, factor float32, all broadcast."""
    xp = array_module(images)
    result = factor * (images.astype("int16") - dull) + dull
    return xp.clip(result, 0, 255).astype("uint8")


def luminance(images: Array) -> Array:
    """How bright the pixels of images (m, H, W, 3) are: int16 (m, H, W), with the weights of ITU-R 601."""
    red, green, blue = (images[..., channel].astype("int32") for channel in range(3))
    return ((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16).astype("int16")


def _smooth(images: Array) -> Array:
    """Means over 3 x 3 pixels, of which the one in the middle counts five times; edges stay as they are."""
    x = images.astype("int16")
    rows = x[:, :-2] + x[:, 1:-1] + x[:, 2:]
    total = rows[:, :, :-2] + rows[:, :, 1:-1] + rows[:, :, 2:] + 4 * x[:, 1:-1, 1:-1]
    x[:, 1:-1, 1:-1] = (2 * total + 13) // 26  # total / 13, to the nearest whole number
    return x


def _of_images(factors: np.ndarray, images: Array) -> Array:
    return array_module(images).asarray(factors, dtype="float32")[:, None, None, None]
