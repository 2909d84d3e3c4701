"""Position embeddings for another image size (paper, section 3.2).

The table with one vector per patch position is a small image with D channels, and is resized like one. There
are four methods: 'corners' in the official code (scipy.ndimage.zoom, order 1), 'bicubic' in Hugging Face,
and in timm 'bilinear' for .npz files and 'antialias' for its own; see ops.resize. The class token is not part
of the grid, so its row is unchanged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tinyvit.model import layout
from tinyvit.model.model import M
from tinyvit.ops.resize import resize_images


def resize_positions(
    position: np.ndarray,
    grid: tuple[int, int],
    new_grid: tuple[int, int],
    has_token: bool,
    method: str = "corners",
) -> np.ndarray:
    """Resize the position embedding (N, D) of one grid of patches to another grid, keeping its dtype."""
    token, patches = position[:has_token], position[has_token:]
    table = patches.reshape(1, *grid, -1).astype(np.float64)  # (1, gh, gw, D)
    patches = resize_images(table, new_grid, method).reshape(-1, position.shape[1])
    return np.concatenate([token, patches.astype(position.dtype)])


def at_image_size(model: M, image_size: tuple[int, int] | int, method: str | None = None) -> M:
    """The same model for images of another size: only the position embedding changes, if there is one.

    method is one of ops.resize.METHODS; the default is model.position_resize.
    """
    config, params = model.config, model.params
    new = replace(config, image_size=image_size)
    if new.grid == config.grid or not config.has_transformer:
        return replace(model, config=new)
    resized = params.carried_over(layout(new), without="position")
    resized["position"] = resize_positions(
        params["position"], config.grid, new.grid, config.has_token, method or model.position_resize
    )
    return replace(model, config=new, params=resized)
