"""Any number of images through a model: so many at a time as the memory of a modest device takes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinyvit.backend import Array, Device, to_numpy
from tinyvit.data import to_input
from tinyvit.engine.cpu import CpuEngine
from tinyvit.engine.reference import ReferenceEngine
from tinyvit.model import Params, ViTConfig
from tinyvit.model.cost import activation_bytes

_MOST_BYTES = 2_000_000_000  # of activations, where an engine computes all the images it is given at once
_MOST_IMAGES = 500


def logits_in_batches(
    engine: CpuEngine | ReferenceEngine, params: Params, images: np.ndarray, device: Device
) -> np.ndarray:
    """Logits (n, C) of uint8 images (n, H, W, 3) of any size, as a NumPy array; params are on the device."""
    return in_batches(lambda batch: engine.logits(params, batch), engine.config, params, images, device)


def in_batches(
    compute: Callable[[Array], Array], config: ViTConfig, params: Params, images: np.ndarray, device: Device
) -> np.ndarray:
    """What compute makes of uint8 images (n, H, W, 3), as a NumPy array (n, ...).

    compute is given some of them at a time, on the device, as the model takes them, and must treat each by
    itself: how many there are at a time does not show.
    """
    size, parts = images_at_a_time(config), []
    for start in range(0, len(images), size):
        chosen = device.xp.asarray(images[start : start + size])
        parts.append(to_numpy(compute(to_input(chosen, params.flat.dtype, config.image_size))))
    return np.concatenate(parts)


def images_at_a_time(config: ViTConfig) -> int:
    """How many images a model is given at a time where nothing is learned from them, at least one."""
    return min(max(1, _MOST_BYTES // activation_bytes(config)), _MOST_IMAGES)
