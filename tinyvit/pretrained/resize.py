"""Position embeddings for another image size (paper, section 3.2).

The table of one vector a place is a small picture of D channels, and is resized as one. Four ways are in
use: 'corners' by the official code (scipy.ndimage.zoom, order 1), 'bicubic' by Hugging Face, 'bilinear' by
timm for .npz files and 'antialias' for its own; see ops.resize. The class token has no place: its row
stays as it is.
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
    """Position embedding (N, D) of one grid of patches, for another grid; typed as it was."""
    token, places = position[:has_token], position[has_token:]
    table = places.reshape(1, *grid, -1).astype(np.float64)  # (1, gh, gw, D)
    places = resize_images(table, new_grid, method).reshape(-1, position.shape[1])
    return np.concatenate([token, places.astype(position.dtype)])


def at_image_size(model: M, image_size: tuple[int, int] | int, method: str | None = None) -> M:
    """The same model for images of another size: only the position embedding changes.

    method is one of ops.resize.METHODS, model.position_resize if it is not given.
    """
    config, params = model.config, model.params
    new = replace(config, image_size=image_size)
    if new.grid == config.grid:
        return replace(model, config=new)
    resized = params.carried_over(layout(new), without="position")
    resized["position"] = resize_positions(
        params["position"], config.grid, new.grid, config.has_token, method or model.position_resize
    )
    return replace(model, config=new, params=resized)
