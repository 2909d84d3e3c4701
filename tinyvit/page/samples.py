"""The sample images of a page: a few of each class, as the model sees them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tinyvit.data import ImageSet, one_of_each, to_input
from tinyvit.model import ViTConfig

EACH = 5  # images of a class, where it has so many
MOST_BYTES = 400_000  # of pixels, for all samples together
NO_LABEL = -1  # of a sample whose class is unknown


class Samples(NamedTuple):
    """Images (n, H, W, 3), uint8, of the model's size, and labels (n,): their classes, or NO_LABEL."""

    images: np.ndarray
    labels: np.ndarray

    @classmethod
    def none(cls, config: ViTConfig) -> Samples:
        """No samples: the page then starts with a sheet to draw on."""
        return cls(np.empty((0, *config.image_size, 3), np.uint8), np.empty(0, np.int64))


def choose_samples(config: ViTConfig, images: ImageSet) -> Samples:
    """The first few images of each class, sorted by class; fewer if they are large or the classes many."""
    room = max(1, MOST_BYTES // (3 * config.image_size[0] * config.image_size[1]))
    chosen = one_of_each(images.labels, min(room, EACH * config.classes))
    chosen = chosen[np.argsort(images.labels[chosen], kind="stable")]
    inputs = to_input(images.images[chosen], np.dtype(np.float32), config.image_size)  # (n, H, W, 3), -1 to 1
    return Samples((inputs * 127.5 + 127.5).round().clip(0, 255).astype(np.uint8), images.labels[chosen])
