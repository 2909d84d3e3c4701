"""Mixing the images of a batch, and erasing parts of them: mixup, CutMix and random erasing.

Mixup (Zhang et al. 2018) blends two images, and the targets t of their labels in the same proportion:

    x = lam x_1 + (1 - lam) x_2        t = lam t_1 + (1 - lam) t_2                         (1)

CutMix (Yun et al. 2019) pastes a rectangle of the second image into the first. Its sides are those of the
image times sqrt(1 - lam), its centre is anywhere in the image, and what lies beyond the edge is cut off; so
lam is then replaced with the share of the pixels that are still the first image's. In both, lam is drawn from
the distribution Beta(alpha, alpha), here for every image anew.

Both are one operation: within a rectangle, an image is the second one with a certain weight. For mixup the
rectangle is the whole image and the weight is 1 - lam, for CutMix the weight is 1.

Image i of a batch is mixed with image i + 1, and the last with the first. So a part of a batch needs one more
image than it has, and no more.

Random erasing (Zhong et al. 2017) replaces, in some images, a random rectangle with noise. It takes 2 % to
33 % of the image's pixels, and its height is 0.3 to 3.3 times its width. It is filled with pixels whose
colours are uniform, as in the paper, where noise did better than any one colour: a constant is a mark that a
model can learn to find, and noise has all colours and says nothing. The pixels stay within the range of an
image's own, and are about as varied. The noise is not stored: each image has a key, and the value of a pixel
is a hash of the key and of the pixel's number (see ops.noise), so every device and every part of a batch
makes the same.
"""

from typing import NamedTuple

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.ops.noise import hashed

_AREA = (0.02, 1 / 3)  # that is erased, as a share of an image
_ASPECT = (0.3, 1 / 0.3)  # of its height to its width


class Rectangles(NamedTuple):
    """A rectangle of pixels in each of B images: rows top to bottom and columns left to right, the last of
    each not included; (B,) each."""

    top: np.ndarray
    bottom: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @property
    def area(self) -> np.ndarray:
        """Number of pixels of each, (B,)."""
        return (self.bottom - self.top) * (self.right - self.left)

    def rows(self, height: int) -> np.ndarray:
        """True for each row of the images that is among those of the rectangle: (B, height)."""
        row = np.arange(height)
        return (self.top[:, None] <= row) & (row < self.bottom[:, None])

    def columns(self, width: int) -> np.ndarray:
        """True for each column of the images that is among those of the rectangle: (B, width)."""
        column = np.arange(width)
        return (self.left[:, None] <= column) & (column < self.right[:, None])


class Mixing(NamedTuple):
    """The way in which each of B images is mixed with the next one; (B,) each.

    lam is drawn from the Beta distribution. pasted says whether a rectangle is pasted, or the images are
    blended; row and column are the rectangle's centre, from 0 to 1 of the image's height and width.
    """

    lam: np.ndarray
    pasted: np.ndarray
    row: np.ndarray
    column: np.ndarray

    def regions(self, height: int, width: int) -> tuple[Rectangles, np.ndarray]:
        """In images of that size: the rectangles that show the next image, and its weight there, (B,)."""
        sides = np.sqrt(1 - self.lam)
        top, bottom = self._ends(self.row, sides, height)
        left, right = self._ends(self.column, sides, width)
        return Rectangles(top, bottom, left, right), np.where(self.pasted, 1, 1 - self.lam)

    def shares(self, height: int, width: int) -> np.ndarray:
        """The share that the next image has of each image and of its label, (B,): 1 - lam of eq. 1."""
        regions, weight = self.regions(height, width)
        return weight * (regions.area / (height * width))

    def _ends(self, centre: np.ndarray, side: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        """The start and the end of the regions along an axis of this many pixels."""
        middle, half = (centre * size).astype(int), (side * size).astype(int) // 2
        first, last = (middle - half).clip(0, size), (middle + half).clip(0, size)
        return np.where(self.pasted, first, 0), np.where(self.pasted, last, size)


def draw_mixing(rng: np.random.Generator, count: int, mixup: float, cutmix: float) -> Mixing:
    """A random mixing of `count` images; mixup and cutmix are the alpha of each method, or 0 without it.

    With both, an image is blended or has a rectangle pasted with probability 1/2 each.
    """
    coin, row, column = rng.random((3, count))
    pasted = coin < bool(cutmix) / (bool(mixup) + bool(cutmix))
    alpha = np.where(pasted, cutmix, mixup)
    return Mixing(rng.beta(alpha, alpha), pasted, row, column)


def mix_images(images: Array, after: Array, mixing: Mixing) -> Array:
    """Each image mixed with the next one. images (B, H, W, C); after (1, H, W, C) comes after the last."""
    xp, (B, H, W, C) = array_module(images), images.shape
    regions, weight = mixing.regions(H, W)
    rows = (regions.rows(H) * weight[:, None]).astype(images.dtype)  # (B, H)
    columns = regions.columns(W).repeat(C, axis=1).astype(images.dtype)  # (B, W*C)
    second = xp.asarray(rows)[:, :, None] * xp.asarray(columns)[:, None, :]  # (B, H, W*C)  weight of x_2
    x, x_after = images.reshape(B, H, W * C), after.reshape(1, H, W * C)
    mixed = (1 - second) * x
    second[:-1] *= x[1:]
    second[-1:] *= x_after
    mixed += second  #                                                                       eq. 1
    return mixed.reshape(images.shape)


def mix_labels(labels: Array, after: Array, shares: Array, classes: int) -> Array:
    """The targets of mixed images, one distribution per row: (B, classes), in the dtype of the shares.

    labels (B,) are the images' own, after (1,) comes after the last, shares (B,) are those of the next image.
    """
    xp = array_module(labels)
    own = (xp.concatenate([labels, after])[:, None] == xp.arange(classes)).astype(shares.dtype)  # (B+1, C)
    second = shares[:, None]  # (B, 1)
    return (1 - second) * own[:-1] + second * own[1:]  #                                     eq. 1


class Erasing(NamedTuple):
    """The rectangle that is erased of each of B images; (B,) each.

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
    """The rectangles to erase of `count` images, each with that probability."""
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
    """The start and the end of rectangles along an axis of this many pixels."""
    length = np.rint(side).astype(int).clip(0, size)
    first = (place * (size - length + 1)).astype(int)
    return first, first + length
