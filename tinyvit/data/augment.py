"""The augmentation of images, and bytes normalised to numbers around 0; for NumPy and CuPy alike.

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

RandAugment, AutoAugment and colour jitter draw operations for each image, done to whole batches:

    operation                                  amount                         at strength 0   at strength 1
    shear_x, shear_y                           the tangent of the angle             0         0.3 or -0.3
    translate_x, translate_y                   share of the width or height         0         0.45 or -0.45
    rotate                                     degrees, anticlockwise               0         30 or -30
    brightness, colour, contrast, sharpness    factor                               1         1.9 or 0.1
    posterize                                  bits that are kept                   8         4
    solarize                                   least byte that is inverted        255         0
    identity, autocontrast, equalize, invert   none

These are the ranges of torchvision's RandAugment and AutoAugment; 0.45 is 150/331. Every operation gives, to
the bit, what Pillow gives: ImageOps, ImageEnhance, and Image.transform with the nearest pixel and grey
outside, as in the first code of AutoAugment.

RandAugment (Cubuk et al. 2020, RandAugment: Practical automated data augmentation) draws every operation with
the same probability and gives all of them the same strength. AutoAugment (Cubuk et al. 2019, AutoAugment:
Learning Augmentation Policies from Data) draws one of 25 pairs that a search found for CIFAR-10. Colour
jitter changes brightness, contrast and colour of every image, each by a factor of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from tinyvit.backend import Array, array_module
from tinyvit.data import operations
from tinyvit.data.mixing import Rectangles
from tinyvit.ops.resize import resize_images

_RATIO = 4 / 3  # the longer side of a box is at most this many times the shorter one
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
    """The box that is taken of each of B images.

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
    """The start and the end of boxes along an axis of this many pixels; those that do not fit are centred."""
    middle = min(size, most)
    length = np.where(fit, side, middle).astype(int)
    first = np.where(fit, (place * (size - length + 1)).astype(int), (size - middle) // 2)
    return first, first + length


class Range(NamedTuple):
    """The amount of an operation at strength 0, how far it goes from there, and whether either way."""

    start: float = 0.0
    change: float = 0.0
    signed: bool = False


RANGES = {
    "identity": Range(),
    "shear_x": Range(0.0, 0.3, True),
    "shear_y": Range(0.0, 0.3, True),
    "translate_x": Range(0.0, 150 / 331, True),
    "translate_y": Range(0.0, 150 / 331, True),
    "rotate": Range(0.0, 30.0, True),
    "brightness": Range(1.0, 0.9, True),
    "colour": Range(1.0, 0.9, True),
    "contrast": Range(1.0, 0.9, True),
    "sharpness": Range(1.0, 0.9, True),
    "posterize": Range(8.0, -4.0),
    "solarize": Range(255.0, -255.0),
    "autocontrast": Range(),
    "equalize": Range(),
    "invert": Range(),
}
NAMES = tuple(RANGES)
OPERATION = np.dtype([("kind", np.uint8), ("amount", np.float64)])  # kind is a place in NAMES

_GROUPS = (
    (operations.move, operations.MOVES),
    (operations.change_tones, operations.TONES),
    (operations.change_colour, ("colour",)),
    (operations.change_sharpness, ("sharpness",)),
)


def operations_of(kinds: np.ndarray, strength: np.ndarray | float, sign: np.ndarray) -> np.ndarray:
    """Operations, of OPERATION, for kinds (places in NAMES), strengths 0..1 and signs 1 or -1."""
    start, change, signed = np.array(list(RANGES.values())).T[:, kinds]
    result = np.empty(np.shape(kinds), OPERATION)
    result["kind"] = kinds
    result["amount"] = start + change * strength * np.where(signed > 0, sign, 1)
    return result


def apply_operations(images: Array, operations: np.ndarray) -> Array:
    """The images after their operations, one after another.

    images uint8 (B, H, W, 3), which are overwritten; operations (B, n) of OPERATION, in main memory. All
    images that are to be, say, moved in the same round are moved at once.
    """
    xp = array_module(images)
    for of_round in operations.T:
        names = np.array(NAMES)[of_round["kind"]]
        for change, kinds in _GROUPS:
            chosen = np.flatnonzero(np.isin(names, kinds))
            if len(chosen):
                at = xp.asarray(chosen)
                images[at] = change(images[at], names[chosen], of_round["amount"][chosen])
    return images


POLICIES = ("none", "randaugment", "autoaugment")
MOST_OPERATIONS = 16  # of randaugment on an image: after this many, nothing of it is left to learn from
MOST_MAGNITUDE = 30.0  # at which an operation is as strong as it can be
Policy = Callable[[np.random.Generator, int], np.ndarray]

_JITTERED = [NAMES.index(name) for name in ("brightness", "contrast", "colour")]
_LAST_LEVEL = 9  # of AutoAugment
# The policy for CIFAR-10 (table 7): two operations, each with its probability and its level.
_CIFAR = (
    (("invert", 0.1, 0), ("contrast", 0.2, 6)),
    (("rotate", 0.7, 2), ("translate_x", 0.3, 9)),
    (("sharpness", 0.8, 1), ("sharpness", 0.9, 3)),
    (("shear_y", 0.5, 8), ("translate_y", 0.7, 9)),
    (("autocontrast", 0.5, 0), ("equalize", 0.9, 0)),
    (("shear_y", 0.2, 7), ("posterize", 0.3, 7)),
    (("colour", 0.4, 3), ("brightness", 0.6, 7)),
    (("sharpness", 0.3, 9), ("brightness", 0.7, 9)),
    (("equalize", 0.6, 0), ("equalize", 0.5, 0)),
    (("contrast", 0.6, 7), ("sharpness", 0.6, 5)),
    (("colour", 0.7, 7), ("translate_x", 0.5, 8)),
    (("equalize", 0.3, 0), ("autocontrast", 0.4, 0)),
    (("translate_y", 0.4, 3), ("sharpness", 0.2, 6)),
    (("brightness", 0.9, 6), ("colour", 0.2, 8)),
    (("solarize", 0.5, 2), ("invert", 0.0, 0)),
    (("equalize", 0.2, 0), ("autocontrast", 0.6, 0)),
    (("equalize", 0.2, 0), ("equalize", 0.6, 0)),
    (("colour", 0.9, 9), ("equalize", 0.6, 0)),
    (("autocontrast", 0.8, 0), ("solarize", 0.2, 8)),
    (("brightness", 0.1, 3), ("colour", 0.7, 0)),
    (("solarize", 0.4, 5), ("autocontrast", 0.9, 0)),
    (("translate_y", 0.9, 9), ("translate_y", 0.7, 9)),
    (("autocontrast", 0.9, 0), ("solarize", 0.8, 3)),
    (("equalize", 0.8, 0), ("invert", 0.1, 0)),
    (("translate_y", 0.7, 9), ("autocontrast", 0.9, 0)),
)
# The same as arrays (25, 2): places in NAMES, probabilities, levels.
_CIFAR_ARRAYS = (
    np.array([[NAMES.index(name) for name, _, _ in pair] for pair in _CIFAR]),
    np.array([[probability for _, probability, _ in pair] for pair in _CIFAR]),
    np.array([[level for _, _, level in pair] for pair in _CIFAR]),
)


def make_policy(name: str = "none", rounds: int = 2, magnitude: float = 10.0) -> Policy:
    """The policy of this name, one of POLICIES: a function (rng, count) that draws operations (count, n).

    rounds, 1 to MOST_OPERATIONS, and magnitude are those of RandAugment. Raises ValueError for an unknown
    name.
    """
    if name == "randaugment":
        return partial(randaugment, rounds=rounds, magnitude=magnitude)
    if name not in POLICIES:
        raise ValueError(f"unknown policy {name!r}, expected one of {', '.join(POLICIES)}")
    return autoaugment if name == "autoaugment" else unchanged


def unchanged(rng: np.random.Generator, count: int) -> np.ndarray:
    """No operations at all: (count, 0)."""
    return np.empty((count, 0), OPERATION)


def randaugment(rng: np.random.Generator, count: int, rounds: int = 2, magnitude: float = 10.0) -> np.ndarray:
    """Operations (count, rounds), each any but invert; magnitude is from 0 to MOST_MAGNITUDE."""
    drawn = [kind for kind, name in enumerate(NAMES) if name != "invert"]
    kinds = rng.choice(drawn, size=(count, rounds))
    return operations_of(kinds, magnitude / MOST_MAGNITUDE, _signs(rng, kinds.shape))


def autoaugment(rng: np.random.Generator, count: int) -> np.ndarray:
    """Operations (count, 2) of AutoAugment's policy for CIFAR-10; those that are skipped are identities."""
    pairs = rng.integers(len(_CIFAR), size=count)
    kinds, probabilities, levels = (part[pairs] for part in _CIFAR_ARRAYS)
    kinds = np.where(rng.random(kinds.shape) < probabilities, kinds, NAMES.index("identity"))
    return operations_of(kinds, levels / _LAST_LEVEL, _signs(rng, kinds.shape))


def draw_jitter(rng: np.random.Generator, count: int, most: float) -> np.ndarray:
    """Operations (count, 3): brightness, contrast and colour, changed by factors from 1 - most to 1 + most.

    Their order is drawn for each image, as in torchvision's ColorJitter, whose saturation is colour here.
    """
    operations = np.empty((count, len(_JITTERED)), OPERATION)
    operations["kind"] = rng.permuted(np.tile(_JITTERED, (count, 1)), axis=1)
    operations["amount"] = rng.uniform(1 - most, 1 + most, operations.shape)
    return operations


def _signs(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.choice((-1, 1), size=shape)
