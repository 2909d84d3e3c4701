"""Models trained on pixels of another scale: their scale, moved into the patch embedding.

tinyvit gives every model x from -1 to 1. With u from 0 to 1, x = 2 u - 1, and a model that was trained on
(u - mean) / std, a mean and a std for each channel, wants

    (u - mean) / std = x (0.5 / std) + (0.5 - mean) / std

So the rows of the patch matrix are multiplied by 0.5 / std of their channel, and what the second term adds
goes into its bias: the same function, of other pixels.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig


class PixelScale(NamedTuple):
    """Mean and std of each channel, for pixels from 0 to 1."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


def read_pixel_scale(folder: Path) -> PixelScale | None:
    """What Hugging Face's preprocessor_config.json or timm's config.json in a folder states, if any does.

    Raises UserError if such a file is unreadable, or states no positive std for each of three channels.
    """
    for name in ("preprocessor_config.json", "config.json"):
        path = folder / name
        if not path.is_file():
            continue
        try:
            stated = json.loads(path.read_text(encoding="utf-8"))
            if name == "config.json":
                stated = stated.get("pretrained_cfg") or {}
            if not stated.get("do_normalize", True):
                return PixelScale((0.0,) * 3, (1.0,) * 3)
            mean = stated.get("image_mean", stated.get("mean"))
            std = stated.get("image_std", stated.get("std"))
            if mean is None or std is None:
                continue
            scale = PixelScale(tuple(map(float, mean)), tuple(map(float, std)))
        except (OSError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            raise UserError(f"{path} does not describe pixels ({error}): mend it, or move it.") from error
        if not (len(scale.mean) == len(scale.std) == 3 and np.isfinite(scale).all() and min(scale.std) > 0):
            raise UserError(
                f"{path} states mean {mean} and std {std} of the pixels, expected three numbers each, std "
                "above 0: mend it, or move it."
            )
        return scale
    return None


def adapt_to_pixel_scale(config: ViTConfig, params: Params, scale: PixelScale) -> None:
    """Change the patch embedding of a model that wants pixels of that scale to take those from -1 to 1."""
    mean, std = np.array(scale.mean), np.array(scale.std)
    if (mean == 0.5).all() and (std == 0.5).all():  # it does already
        return
    weight = (
        params["patch.weight"].astype(np.float64).reshape(-1, config.channels, config.width)
    )  # (P P, 3, D)
    shift = weight * ((0.5 - mean) / std)[:, None]
    params["patch.bias"] = params["patch.bias"] + shift.sum(axis=(0, 1))
    params["patch.weight"] = (weight * (0.5 / std)[:, None]).reshape(params.shapes["patch.weight"])
