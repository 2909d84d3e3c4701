"""Random windows, flips and crops, and normalising bytes to numbers around 0; for NumPy and CuPy alike.

The usual way to make a random window is to pad every image and cut it out. Here nothing is padded and there
is no loop over images: the source row and column of every output row and column are computed, and one gather
fetches the whole batch. Where the window extends k pixels beyond the edge, it shows the image mirrored,

    -k -> k        H - 1 + k -> H - 1 - k

so reflecting the index does what numpy.pad(mode="reflect") would do to the pixels. The gather treats the data
set as one long list of pixels, (n H W, 3): on a CPU, taking whole pixels from it by index is four times as
fast as indexing with image, row and column.

Random resized crops (Szegedy et al. 2015) take a random box of each image, resized to the model's size. The
boxes are those of torchvision's RandomResizedCrop: their share of the image's area is uniform from a least
one to 1, and width / height lies between 3/4 and 4/3, uniform in its logarithm. If the box does not fit into
the image, another is drawn; after ten, the largest box in the middle that has such a shape is taken.

All boxes of a batch are resized at once, with two batched matrix products:

    y = R x C^T                                                in each channel             (1)

Row i of R (h, H) has the weights of the rows of an image in row i of the result: a triangle around its
centre t_i, as far as it is in the box, and divided by its sum. C (w, W) is the same for columns.

    t_i = top + (i + 1/2) s       s = (bottom - top) / h                                   (2)
    R_ij ~ max(0, 1 - |j + 1/2 - t_i| / max(s, 1))             top <= j < bottom           (3)

If the box is enlarged, this is bilinear interpolation. If it is reduced, the triangle is as much wider, so
that every pixel counts and fine patterns do not turn into false ones (antialiasing).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from tinyvit.backend import Array, array_module
from tinyvit.data.mixing import Rectangles
from tinyvit.ops.resize import resize_images

_RATIO = 4 / 3  # the longer side of a box is at most so many times the shorter one
_TRIES = 10  # boxes that are drawn for each image


def draw_augmentation(
    rng: np.random.Generator, count: int, padding: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random (down, right, flip), each (count,): shifts from -padding to padding, and whether to mirror."""
    down, right = rng.integers(-padding, padding, size=(2, count), endpoint=True)
    return down, right, rng.random(count) < 0.5


def crop_and_flip(images: Array, indices: Array, down: Array, right: Array, flip: Array) -> Array:
    """The chosen images, each seen through a window moved down and to the right, then mirrored if flip.

    images: uint8 (n, H, W, 3); indices, down, right, flip: (B,) each, in main memory or on the device of the
    images; returns uint8 (B, H, W, 3). The shifts, in pixels, must be smaller than the image.
    """
    xp = array_module(images)
    given = indices, down, right, flip
    indices, down, right, flip = (xp.asarray(each)[:, None] for each in given)  # (B, 1)
    height, width = images.shape[1:3]
    column = xp.arange(width)
    rows = _reflect(xp.arange(height) + down, height)  # (B, H)
    columns = _reflect(xp.where(flip, width - 1 - column, column) + right, width)  # (B, W)
    pixels = (indices * height + rows)[:, :, None] * width + columns[:, None, :]  # (B, H, W)
    pixels = pixels.astype(xp.intp, copy=False)  # take refuses wider ones where pointers have 32 bits
    return images.reshape(-1, 3).take(pixels, axis=0)  # (B, H, W, 3)


def normalise(images: Array, dtype: DTypeLike) -> Array:
    """Bytes 0..255 to -1..1, in float32 or float64, as the official ViT code does: (x - 127.5) / 127.5."""
    x = images.astype(dtype)
    x -= 127.5
    x /= 127.5
    return x


def to_input(images: Array, dtype: np.dtype, size: tuple[int, int]) -> Array:
    """Bytes (B, H, W, 3) to a model's input of that image size: normalised, and resized if necessary."""
    return resize_images(normalise(images, dtype), size)


def _reflect(index: Array, size: int) -> Array:
    """The indices, with those below 0 or above size - 1 mirrored at the first or last one."""
    return size - 1 - abs(size - 1 - abs(index))


class Crops(NamedTuple):
    """Which box of each of B images is taken.

    area and ratio (B, 10) are the tries: the share of the image's pixels, and width / height. row and column
    (B,) say where the box lies, from 0 (at the top, at the left) to 1.
    """

    area: np.ndarray
    ratio: np.ndarray
    row: np.ndarray
    column: np.ndarray

    def boxes(self, height: int, width: int) -> Rectangles:
        """The boxes in images of that size."""
        pixels = self.area * (height * width)
        down, across = np.rint(np.sqrt(pixels / self.ratio)), np.rint(np.sqrt(pixels * self.ratio))
        fits = (down > 0) & (down <= height) & (across > 0) & (across <= width)  # (B, 10)
        chosen, fit = (np.arange(len(fits)), fits.argmax(axis=1)), fits.any(axis=1)
        top, bottom = _ends(self.row, down[chosen], fit, height, round(width * _RATIO))
        left, right = _ends(self.column, across[chosen], fit, width, round(height * _RATIO))
        return Rectangles(top, bottom, left, right)


def draw_crops(rng: np.random.Generator, count: int, scale: float) -> Crops:
    """Random crops of `count` images, whose boxes have at least that share of the image's area."""
    area = rng.uniform(scale, 1, (count, _TRIES))
    ratio = _RATIO ** rng.uniform(-1, 1, (count, _TRIES))
    return Crops(area, ratio, *rng.random((2, count)))


def crop_and_resize(
    images: Array, indices: np.ndarray, boxes: Rectangles, flip: np.ndarray, size: tuple[int, int]
) -> Array:
    """The boxes of the chosen images, resized to size (height, width), then mirrored if flip.

    images: uint8 (n, H, W, 3), on any device; indices and flip (B,), and boxes, in main memory; returns uint8
    (B, height, width, 3), on the device of the images.
    """
    xp, (H, W) = array_module(images), images.shape[1:3]
    B, (height, width) = len(indices), size
    rows = _weights(images, boxes.top, boxes.bottom, H, np.arange(height)[None])  # (B, height, H)  R
    column = np.where(flip[:, None], width - 1 - np.arange(width), np.arange(width))  # (B, width)
    columns = _weights(images, boxes.left, boxes.right, W, column)  # (B, width, W)  C
    x = images[xp.asarray(indices)].transpose(0, 1, 3, 2).astype("float32", order="C")  # (B, H, 3, W)
    tall = rows @ x.reshape(B, H, 3 * W)  # (B, height, 3 W)
    y = tall.reshape(B, height * 3, W) @ columns.transpose(0, 2, 1)  # (B, height 3, width)       eq. 1
    y = xp.rint(y).reshape(B, height, 3, width)
    return y.transpose(0, 1, 3, 2).astype("uint8", order="C")


def _weights(images: Array, first: np.ndarray, last: np.ndarray, size: int, place: np.ndarray) -> Array:
    """The weights (B, m, size) of an axis of the images, for boxes from first to last, (B,) each.

    place (B, m) are the places of the result's pixels; its length may be 1 instead of B.
    """
    xp = array_module(images)
    first, last = first[:, None], last[:, None]
    step = (last - first) / place.shape[1]  # (B, 1)
    centre = xp.asarray(first + (place + 0.5) * step, dtype="float32")[:, :, None]  # (B, m, 1)      eq. 2
    slope = xp.asarray(1 / np.maximum(step, 1), dtype="float32")[:, :, None]  # (B, 1, 1)
    pixel = np.arange(size)
    inside = xp.asarray((first <= pixel) & (pixel < last))[:, None, :]  # (B, 1, size)
    weights = abs(xp.arange(size, dtype="float32") + np.float32(0.5) - centre)  # (B, m, size)
    weights *= -slope
    weights += 1
    xp.maximum(weights, 0, out=weights)
    weights *= inside
    weights /= weights.sum(axis=2, keepdims=True)  #                                                 eq. 3
    return weights


def _ends(
    place: np.ndarray, side: np.ndarray, fit: np.ndarray, size: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Where boxes begin and end along an axis of so many pixels; those that do not fit are in its middle."""
    middle = min(size, most)
    length = np.where(fit, side, middle).astype(int)
    first = np.where(fit, (place * (size - length + 1)).astype(int), (size - middle) // 2)
    return first, first + length
