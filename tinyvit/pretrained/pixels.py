"""Models trained on pixels of another scale: their scale, moved into the patch embedding.

tinyvit gives every model x from -1 to 1. With u from 0 to 1, x = 2 u - 1, and a model that was trained on
(u - mean) / std, a mean and a std for each channel, wants

    (u - mean) / std = x (0.5 / std) + (0.5 - mean) / std

So the rows of the patch matrix are multiplied by 0.5 / std of their channel, and what the second term adds
goes into its bias: the same function, of other pixels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig, layout

_GREY = np.array([0.299, 0.587, 0.114])


class PixelScale(NamedTuple):
    """Mean and std of each channel, or of all channels alike, for pixels from 0 to 1."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


def adapt_to_pixel_scale(config: ViTConfig, params: Params, scale: PixelScale, source: str) -> None:
    """Change the patch embedding of a model that wants pixels of that scale to take those from -1 to 1.

    Raises UserError, naming the source, if the scale is for images of another number of channels.
    """
    mean, std = (_one_each(numbers, config.channels, source) for numbers in scale)
    if (mean == 0.5).all() and (std == 0.5).all():  # it does already
        return
    weight = params["patch.weight"].astype(np.float64)
    weight = weight.reshape(-1, config.channels, config.width)  # (P P, 3, D)
    shift = weight * ((0.5 - mean) / std)[:, None]
    params["patch.bias"] = params["patch.bias"] + shift.sum(axis=(0, 1))
    params["patch.weight"] = (weight * (0.5 / std)[:, None]).reshape(params.shapes["patch.weight"])


def for_colour(config: ViTConfig, params: Params) -> tuple[ViTConfig, Params]:
    """A model for grey images as one for colour images, that answers as it would to their grey values.

    The grey of a pixel is .299 red + .587 green + .114 blue, as Pillow has it; so each row of the patch
    matrix becomes three, with these weights. A model for colour images is returned as it is. Raises
    ValueError for any other number of channels.
    """
    if config.channels == 3:
        return config, params
    if config.channels != 1:
        raise ValueError(f"{config.channels} channels are neither grey nor colour")
    colour = replace(config, channels=3)
    result = params.carried_over(layout(colour), without="patch.weight")
    weight = params["patch.weight"].astype(np.float64)  # (P P, D)
    result["patch.weight"] = (weight[:, None] * _GREY[:, None]).reshape(-1, config.width)  # (P P 3, D)
    return colour, result


def _one_each(numbers: tuple[float, ...], channels: int, source: str) -> np.ndarray:
    """One number for each channel: so many are stated, or all that are stated are alike."""
    if len(numbers) == channels:
        return np.array(numbers)
    if len(set(numbers)) == 1:
        return np.full(channels, numbers[0])
    raise UserError(
        f"{source} holds a model for images of {channels} channels, but the files beside it state the pixel "
        f"scale of {len(numbers)}: correct their mean and std."
    )
