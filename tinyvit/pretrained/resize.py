"""Position embeddings for another image size: one vector a place is a small picture, and is resized.

    corners     output i reads at i (n - 1) / (m - 1), linearly       official code (scipy.ndimage.zoom, order 1)
    bilinear    output i reads at (i + 1/2) n / m - 1/2, linearly       timm, for .npz files
    bicubic     the same places, with a cubic kernel, a = -3/4          Hugging Face, and timm otherwise

from n places to m, along each side by itself. So one side's resize is a matrix (m, n), and the whole is one
product from each side.
"""

from __future__ import annotations

import numpy as np

from tinyvit.model import Params, ViTConfig

METHODS = ("corners", "bilinear", "bicubic")


def resize_positions(
    position: np.ndarray,
    grid: tuple[int, int],
    new_grid: tuple[int, int],
    has_token: bool,
    method: str = "corners",
) -> np.ndarray:
    """Position embedding (N, D) of one grid of patches, for another; the class token's row stays as it is."""
    token, places = position[:has_token], position[has_token:]
    D = position.shape[1]
    table = places.reshape(*grid, D).astype(np.float64)
    down, across = (resize_matrix(n, m, method) for n, m in zip(grid, new_grid, strict=True))
    table = np.einsum("in,jm,nmd->ijd", down, across, table, optimize=True)
    return np.concatenate([token, table.reshape(-1, D).astype(position.dtype)])


def resize_matrix(n: int, m: int, method: str) -> np.ndarray:
    """The matrix (m, n) that takes n values in a row to m."""
    if n == m:
        return np.eye(n)
    if method == "corners":
        at = np.linspace(0, n - 1, m) if m > 1 else np.zeros(1)
    else:
        at = (np.arange(m) + 0.5) * n / m - 0.5
    kernel, reach = (_cubic, 2) if method == "bicubic" else (_linear, 1)
    matrix = np.zeros((m, n))
    base = np.floor(at).astype(int)
    for offset in range(1 - reach, reach + 1):
        place = base + offset
        np.add.at(matrix, (np.arange(m), place.clip(0, n - 1)), kernel(at - place))
    return matrix


def at_image_size(
    config: ViTConfig, params: Params, image_size: tuple[int, int] | int, method: str = "corners"
) -> tuple[ViTConfig, Params]:
    """The same model for images of another size (paper, section 3.2): only the position embedding changes."""
    new = ViTConfig(**(config.as_dict() | {"image_size": image_size}))
    if new.grid == config.grid:
        return new, params
    position = resize_positions(params["position"], config.grid, new.grid, config.has_token, method)
    return new, with_arrays(params, {"position": position})


def with_arrays(params: Params, changed: dict[str, np.ndarray]) -> Params:
    """Parameters in which some arrays are others, perhaps of another shape."""
    shapes = {
        name: changed[name].shape if name in changed else shape for name, shape in params.shapes.items()
    }
    result = Params.zeros(shapes, params.flat.dtype)
    for name in shapes:
        result[name] = changed.get(name, params[name])
    return result


def _linear(x: np.ndarray) -> np.ndarray:
    return (1 - np.abs(x)).clip(0)


def _cubic(x: np.ndarray) -> np.ndarray:
    """Keys' kernel with a = -3/4, as PyTorch has it."""
    a, x = -0.75, np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = a * (((x - 5) * x + 8) * x - 4)
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))
