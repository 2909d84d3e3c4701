"""Any number of images through a model: so many at a time as the memory of a modest device takes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinyvit.backend import Array, array_module, to_numpy
from tinyvit.data import to_input
from tinyvit.model import Params, ViTConfig
from tinyvit.model.cost import activation_bytes

_MOST_BYTES = 2_000_000_000  # of activations, where an engine computes all the images it is given at once
_MOST_IMAGES = 500


def in_batches(
    compute: Callable[[Array], Array], config: ViTConfig, params: Params, images: np.ndarray
) -> np.ndarray:
    """What compute makes of uint8 images (n, H, W, 3) of any size, as a NumPy array (n, ...).

    compute is given some of them at a time, normalised and resized for the model, on the device of its
    parameters; it must treat each image by itself: how many there are at a time does not show.
    """
    xp, size, parts = array_module(params.flat), images_at_a_time(config), []
    for start in range(0, len(images), size):
        chosen = xp.asarray(images[start : start + size])
        parts.append(to_numpy(compute(to_input(chosen, params.flat.dtype, config.image_size))))
    return np.concatenate(parts)


def images_at_a_time(config: ViTConfig) -> int:
    """How many images a model is given at a time where nothing is learned from them, at least one."""
    return min(max(1, _MOST_BYTES // activation_bytes(config)), _MOST_IMAGES)
