"""Random erasing (Zhong et al. 2017): in some images, a random rectangle is replaced with noise.

The rectangle takes 2 % to 33 % of the image's pixels, and its height is 0.3 to 3.3 times its width. It is
filled with pixels whose colours are uniform, as in the paper, where noise did better than any one colour: a
constant is a mark that a model can learn to find, and noise has all colours and says nothing. The pixels stay
within the range of an image's own, and are about as varied.

The noise is not stored. Each image has a key, and the value of a pixel is a hash of the key and of the
pixel's number (see ops.noise), so every device and every part of a batch makes the same.
"""

from typing import NamedTuple

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.data.mixing import Rectangles
from tinyvit.ops.noise import hashed

_AREA = (0.02, 1 / 3)  # of an image
_ASPECT = (0.3, 1 / 0.3)  # height / width


class Erasing(NamedTuple):
    """What is erased of each of B images; (B,) each.

    area is the share of the image's pixels, 0 if nothing is erased, and aspect is height / width. row and
    column say where the rectangle lies, from 0 (at the top, at the left) to 1. key, uint32, is that of the
    noise.
    """

    area: np.ndarray
    aspect: np.ndarray
    row: np.ndarray
    column: np.ndarray
    key: np.ndarray

    def rectangles(self, height: int, width: int) -> Rectangles:
        """The rectangles in images of that size; a side that would be longer than the image's is cut."""
        pixels = self.area * (height * width)
        top, bottom = _ends(self.row, np.sqrt(pixels * self.aspect), height)
        left, right = _ends(self.column, np.sqrt(pixels / self.aspect), width)
        return Rectangles(top, bottom, left, right)


def draw_erasing(rng: np.random.Generator, count: int, probability: float) -> Erasing:
    """What to erase of `count` images, each with that probability."""
    coin, area, aspect, row, column = rng.random((5, count))
    key = rng.integers(0, 2**32, count, dtype=np.uint32)
    area = np.where(coin < probability, _AREA[0] + area * (_AREA[1] - _AREA[0]), 0)
    aspect = _ASPECT[0] * (_ASPECT[1] / _ASPECT[0]) ** aspect
    return Erasing(area, aspect, row, column, key)


def erase(images: Array, erasing: Erasing) -> None:
    """Fill rectangles of images (B, H, W, C), normalised and C-contiguous, with noise, in place."""
    xp, (_, H, W, C) = array_module(images), images.shape
    erased = np.flatnonzero(erasing.area)
    if not len(erased):
        return
    where = Rectangles(*(each[erased] for each in erasing.rectangles(H, W)))
    image, row, column = np.nonzero(where.rows(H)[:, :, None] & where.columns(W)[:, None, :])
    pixel = row * W + column
    first = xp.asarray((pixel * C).astype(np.uint32))[:, None]
    keys = xp.asarray(erasing.key[erased][image])[:, None]
    noise = hashed(keys, first + xp.arange(C, dtype=np.uint32)) * 2 - 1  # (pixels, C)
    images.reshape(-1, C)[xp.asarray(erased[image] * (H * W) + pixel)] = noise


def _ends(place: np.ndarray, side: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Where rectangles begin and end along an axis of so many pixels."""
    length = np.rint(side).astype(int).clip(0, size)
    first = (place * (size - length + 1)).astype(int)
    return first, first + length
