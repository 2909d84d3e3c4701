"""Running a model on any number of images, few enough at a time for the memory of a modest device."""

from collections.abc import Callable
from math import prod

import numpy as np

from tinyvit.backend import Array, array_module, to_numpy
from tinyvit.data import to_input
from tinyvit.model import Params, ViTConfig
from tinyvit.model.cost import activation_bytes

_MOST_BYTES = 2_000_000_000  # of activations, if an engine processes all the images it is given at once
_MOST_IMAGES = 500
_MOST_INPUT = 100_000_000  # bytes of the images themselves, as float32


def in_batches(
    compute: Callable[..., Array], config: ViTConfig, params: Params, images: np.ndarray, *others: Array
) -> np.ndarray:
    """The results of compute for uint8 images (n, H, W, 3) of any size, as a NumPy array (n, ...).

    compute is given some of the images at a time, normalised and resized for the model, on the device of its
    parameters, followed by the rows of `others` for the same images. It must treat each image independently,
    so that the batch size does not affect the results.
    """
    xp, size, parts = array_module(params.flat), images_at_a_time(config), []
    for start in range(0, len(images), size):
        chosen = xp.asarray(images[start : start + size])
        batch = to_input(chosen, params.flat.dtype, config.image_size)
        parts.append(to_numpy(compute(batch, *(rows[start : start + size] for rows in others))))
    return np.concatenate(parts)


def images_at_a_time(config: ViTConfig) -> int:
    """How many images a model is given at a time during inference; at least one."""
    input_bytes = 4 * config.channels * prod(config.image_size)
    return max(1, min(_MOST_BYTES // activation_bytes(config), _MOST_INPUT // input_bytes, _MOST_IMAGES))
