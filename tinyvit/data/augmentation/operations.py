"""The operations of augmentation: their names, how strong each can be, and carrying them out on a batch.

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
"""

from typing import NamedTuple

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.data.augmentation import blends, geometry, tones


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
    (geometry.move, geometry.KINDS),
    (tones.change_tones, tones.KINDS),
    (blends.change_colour, ("colour",)),
    (blends.change_sharpness, ("sharpness",)),
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
