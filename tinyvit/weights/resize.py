"""Position embeddings for another image size (paper, section 3.2).

The table with one vector per patch position is a small image with D channels, and is resized like one. There
are four methods: 'corners' in the official code (scipy.ndimage.zoom, order 1), 'bicubic' in Hugging Face,
and in timm 'bilinear' for .npz files and 'antialias' for its own; see ops.resize. The class token is not part
of the grid, so its row is unchanged.

A table with one vector for each row of patches, or each column, is resized along that one axis. Sines and
cosines are computed for the new grid. Relative positions cannot be resized: they count along the sequence of
patches, where one step down is as many places as the grid is wide.
"""

import warnings
from dataclasses import replace
from numbers import Integral
from typing import cast

import numpy as np

from tinyvit.backend import array_module, to_numpy
from tinyvit.data.photos import fit_for
from tinyvit.model import ViTConfig, layout
from tinyvit.model.model import M, Positions
from tinyvit.ops.resize import METHODS, resize_images, resize_matrix
from tinyvit.support.errors import UserError


def resize_positions(
    position: np.ndarray,
    grid: tuple[int, int],
    new_grid: tuple[int, int],
    others: int,
    method: str = "corners",
) -> np.ndarray:
    """Resize the position embedding (others + T, D) of one grid of patches to another, keeping its dtype."""
    token, patches = position[:others], position[others:]
    table = patches.reshape(1, *grid, -1).astype(np.float64)  # (1, gh, gw, D)
    patches = resize_images(table, new_grid, method).reshape(-1, position.shape[1])
    return np.concatenate([token, patches.astype(position.dtype)])


def at_image_size(model: M, image_size: tuple[int, int] | int, method: str | None = None) -> M:
    """The same model for images of another size: only the position embedding changes, if there is one.

    Its parameters are its own even where none changes, so that it can be trained without changing the other
    model. A position embedding that has been resized, and not trained since, is resized from what it was
    before, since each time loses a little. method is one of ops.resize.METHODS; the default is
    model.position_resize. Raises UserError if the model has relative positions, unless its grid of patches
    stays the same.
    """
    config, params = model.config, model.params
    new = replace(config, image_size=cast(tuple[int, int], image_size))
    if new.grid == config.grid:
        return replace(model, config=new, params=params.astype(params.flat.dtype))
    if config.position in ("relative", "bias"):
        H, W = config.image_size
        raise UserError(
            f"relative positions cannot be resized: in a grid of another width, the same offset between two "
            f"patches is another distance. Use images of {H} x {W} pixels."
        )
    tables = {name: to_numpy(params[name]).copy() for name in params if "position" in name}
    original = model.original
    if original is None or original.resized != _as_bytes(tables):
        original = Positions(config, tables, {})
    method = method or model.position_resize
    resized = {
        name: _resized(name, table, original.config, new, method) for name, table in original.tables.items()
    }
    result = params.copy_to(layout(new), exclude=tuple(resized))
    for name, table in resized.items():
        result[name] = array_module(result.flat).asarray(table)
    return replace(model, config=new, params=result, original=original._replace(resized=_as_bytes(resized)))


def at_resolution(
    model: M, resolution: int | None, position_resize: str | None = None, edge: bool = False
) -> M:
    """The same model for square images of that side; for None, the model unchanged.

    Position embeddings are resized with position_resize or, by default, as in the library that the model
    comes from. If its patches do not divide the images, photos become images of that side and lose their
    lower and right edge, as in other libraries, with a warning; unless edge is False, or images are smaller
    than a patch or read by a ResNet: then this raises UserError.
    """
    P = model.config.pixels_per_patch
    if position_resize not in (None, *METHODS):
        raise UserError(f"position_resize is {position_resize!r}, expected one of {', '.join(METHODS)}.")
    if resolution is None:
        if position_resize:
            raise UserError(
                "position_resize (--position-resize) has no effect without a resolution (--resolution): give "
                "one."
            )
        return model
    if not isinstance(resolution, Integral) or resolution < 1:
        raise UserError(f"the resolution is {resolution!r}, expected a whole number of pixels, 1 or more.")
    if model.config.has_transformer and resolution % P:
        covered, step = resolution // P * P, 2 * P if model.config.merge_after else P
        below, above = resolution // step * step, (resolution // step + 1) * step
        what = f"the model's patches of {P} x {P} do not divide images of {resolution} x {resolution} pixels"
        choose = f"choose a resolution (--resolution) of {f'{below} or {above}' if below else above}"
        if not edge or not covered or model.config.has_resnet:
            raise UserError(f"{what}: {choose}.")
        fit = fit_for(resolution, model.photo_fit).covered_by(P)
        cut = at_image_size(replace(model, photo_fit=fit), covered, position_resize or model.position_resize)
        warnings.warn(
            f"{what}: their lower and right edges are cut off. To keep them, {choose}.", stacklevel=3
        )
        return cut
    return at_image_size(model, resolution, position_resize or model.position_resize)


def _as_bytes(tables: dict[str, np.ndarray]) -> dict[str, bytes]:
    return {name: table.tobytes() for name, table in tables.items()}


def _resized(name: str, table: np.ndarray, config: ViTConfig, new: ViTConfig, method: str) -> np.ndarray:
    """A position embedding for the new grid of patches."""
    if name.endswith("position"):
        return resize_positions(table, config.grid, new.grid, config.position_rows, method)
    size = new.grid[name.endswith("columns")]
    return (resize_matrix(len(table), size, method) @ table).astype(table.dtype)
