"""Shearing, moving and rotating images: one gather for all of them, from the nearest pixel.

Each operation says where in the source the centre of output pixel (x, y) lies:

    x' = a (x + 1/2) + b (y + 1/2) + c        y' = d (x + 1/2) + e (y + 1/2) + f             (1)

It shows the pixel that (x', y') lies in, or grey outside the image. As in Pillow, (1) is computed in whole
numbers, of which 65536 make a pixel, so that every device finds the same pixels.
"""

import numpy as np

from tinyvit.backend import Array, array_module

KINDS = ("shear_x", "shear_y", "translate_x", "translate_y", "rotate")
GREY = 128
_BITS = 16  # after the point


def move(images: Array, names: np.ndarray, amounts: np.ndarray) -> Array:
    """Each image moved in its own way, with grey where it shows nothing.

    images uint8 (m, H, W, 3); names (m,) out of KINDS and their amounts (m,) (see data.augmentation), in main
    memory. Shears keep the top left corner in place, and rotations the centre. A translation goes right or
    down by its share of the width or height, rounded towards zero to whole pixels.
    """
    xp = array_module(images)
    count, H, W = images.shape[:3]
    numbers = whole_numbers(names, amounts, H, W)[..., None, None]
    per_column, per_row, first = xp.asarray(numbers)  # (2, m, 1, 1) each
    column, row = xp.arange(W, dtype="int32"), xp.arange(H, dtype="int32")[:, None]
    x, y = (per_column * column + per_row * row + first) >> _BITS  # (m, H, W) each, eq. 1
    inside = (x >= 0) & (x < W) & (y >= 0) & (y < H)
    image = xp.arange(count)[:, None, None]
    pixels = xp.where(inside, (image * H + y) * W + x, 0)
    shown = images.reshape(-1, 3).take(pixels, axis=0)  # (m, H, W, 3)
    return xp.where(inside[..., None], shown, GREY)


def whole_numbers(names: np.ndarray, amounts: np.ndarray, H: int, W: int) -> np.ndarray:
    """What x' and y' grow by from column to column, from row to row, and what they are at the first pixel.

    names and amounts (m,) are those of images of H x W pixels; returns int32 (3, 2, m), of which 65536 make a
    pixel.
    """
    angle = np.where(names == "rotate", -np.radians(amounts), 0.0)
    cos, sin = np.cos(angle).round(15), np.sin(angle).round(15)
    a, b, d, e = cos, sin, -sin, cos
    c = a * (-W / 2) + b * (-H / 2) + W / 2  # the centre stays where it is
    f = d * (-W / 2) + e * (-H / 2) + H / 2
    b = np.where(names == "shear_x", amounts, b)
    d = np.where(names == "shear_y", amounts, d)
    c = np.where(names == "translate_x", -np.trunc(amounts * W), c)
    f = np.where(names == "translate_y", -np.trunc(amounts * H), f)
    first = np.stack([c + a * 0.5 + b * 0.5, f + d * 0.5 + e * 0.5])
    numbers = np.stack([[a, d], [b, e], first])
    return np.floor(numbers * 2**_BITS + 0.5).astype(np.int32)
