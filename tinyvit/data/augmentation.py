"""RandAugment, AutoAugment and colour jitter: operations drawn for each image, done to whole batches.

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

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.data import operations


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
MOST_OPERATIONS = 16  # of randaugment on an image: after so many, nothing of it is left to learn from
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
