"""Whitening a model's patch embedding for the images it is to be trained on."""

import numpy as np

from tinyvit.data import to_input
from tinyvit.model import Params, ViTConfig
from tinyvit.model.whitening import whiten

_SAMPLE = 5_000  # images: hundreds of thousands of patches, for a covariance of a few thousand numbers
_AT_A_TIME = 100


def whiten_for(config: ViTConfig, params: Params, images: np.ndarray, seed: int) -> None:
    """Give the patch embedding whitened first values (see model.whitening), for images uint8 (n, H, W, 3).

    They are computed from 5,000 of the images, which the seed chooses, or from all if there are fewer.
    Raises UserError if the model cuts no patches from images, or if all patches are the same.
    """
    rng = np.random.Generator(np.random.Philox(seed).jumped(2))
    chosen = np.sort(rng.permutation(len(images))[:_SAMPLE])
    pieces = (images[chosen[i : i + _AT_A_TIME]] for i in range(0, len(chosen), _AT_A_TIME))
    dtype = np.dtype(np.float64)
    whiten(config, params, (to_input(piece, dtype, config.image_size) for piece in pieces))
