"""Logits of any number of images: so many at a time as the memory of a modest device takes."""

from __future__ import annotations

import numpy as np

from tinyvit.backend import Device, to_numpy
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
    """Logits (n, C) of uint8 images (n, H, W, 3) of any size, as a NumPy array; params are on the device.

    They do not depend on how many images are taken at a time.
    """
    size, parts = images_at_a_time(engine.config), []
    for start in range(0, len(images), size):
        chosen = device.xp.asarray(images[start : start + size])
        batch = to_input(chosen, params.flat.dtype, engine.config.image_size)
        parts.append(to_numpy(engine.logits(params, batch)))
    return np.concatenate(parts)


def images_at_a_time(config: ViTConfig) -> int:
    """How many images a model is given at a time where nothing is learned from them, at least one."""
    return min(max(1, _MOST_BYTES // activation_bytes(config)), _MOST_IMAGES)
