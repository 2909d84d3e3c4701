"""Models trained on pixels of another scale: their scale, moved into the patch embedding.

tinyvit gives every model x from -1 to 1. With u from 0 to 1, x = 2 u - 1, and a model that was trained on
(u - mean) / std, a mean and a std for each channel, wants

    (u - mean) / std = x (0.5 / std) + (0.5 - mean) / std

So the rows of the patch matrix are multiplied by 0.5 / std of their channel, and what the second term adds
goes into its bias: the same function, of other pixels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tinyvit.model import Params, ViTConfig


class PixelScale(NamedTuple):
    """Mean and std of each channel, for pixels from 0 to 1."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


def adapt_to_pixel_scale(config: ViTConfig, params: Params, scale: PixelScale) -> None:
    """Change the patch embedding of a model that wants pixels of that scale to take those from -1 to 1."""
    mean, std = np.array(scale.mean), np.array(scale.std)
    if (mean == 0.5).all() and (std == 0.5).all():  # it does already
        return
    weight = params["patch.weight"].astype(np.float64)
    weight = weight.reshape(-1, config.channels, config.width)  # (P P, 3, D)
    shift = weight * ((0.5 - mean) / std)[:, None]
    params["patch.bias"] = params["patch.bias"] + shift.sum(axis=(0, 1))
    params["patch.weight"] = (weight * (0.5 / std)[:, None]).reshape(params.shapes["patch.weight"])
