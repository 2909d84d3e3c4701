"""What the head of a model sees: one vector for each image, the whole of what the model makes of it.

The logits are f W + b for the features f. With the identity for W and 0 for b they are the features
themselves: so any engine that computes logits computes features.
"""

from __future__ import annotations

import numpy as np

from tinyvit.backend import Device
from tinyvit.engine import logits_in_batches, make_engine
from tinyvit.model import Params, ViTConfig, with_identity_head


def image_features(
    config: ViTConfig, params: Params, images: np.ndarray, device: Device, threads: int | None = None
) -> np.ndarray:
    """Features (n, D) of uint8 images (n, H, W, 3) of any size, as a NumPy array.

    params are in main memory. D is the width of the model, or of its pre_logits if it has any.
    """
    bare, params = with_identity_head(config, params)
    engine = make_engine(bare, device, threads=threads)
    return logits_in_batches(engine, params.to(device.xp), images, device)
