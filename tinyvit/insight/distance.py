"""How far each head looks (ViT Figure 7, right, and Figure 11): its mean attention distance in pixels.

Patches are P pixels apart. In a grid, a patch in row r and column c lies from one in row r' and column c' at

    d = P sqrt((r - r')^2 + (c - c')^2)                                                    (1)

A query patch i draws A_ij from patch j. The class token lies nowhere in the picture, so it is left out, both
as a query and as a key. What a query draws from the patches alone then serves as weights, and all T queries
count the same:

    distance = 1/T  sum over i of  (sum over j of A_ij d_ij) / (sum over j of A_ij)        (2)

It plays the part of the receptive field of a convolution: small for a head that looks around the query, large
for one that looks across the picture. A head that draws the same from everywhere, as those of a new model
nearly do, has the mean of d over all T^2 pairs. In a grid of h rows and w columns, (h - |a|) (w - |b|) pairs
are a rows and b columns apart, so that

    uniform = P / (h w)^2  sum over |a| < h and |b| < w of  (h - |a|) (w - |b|) sqrt(a^2 + b^2)        (3)

For a fine square grid this approaches 0.5214 of its side, the mean distance of two random points of a square,
(2 + sqrt(2) + 5 log(1 + sqrt(2))) / 15.
"""

import os

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.insight.attention import check_has_attention
from tinyvit.insight.draw_parts import HEAD, Part, save_parts
from tinyvit.model import Params, ViTConfig, attention_maps
from tinyvit.pictures.axes import Axes, nice_ticks, whole_ticks
from tinyvit.pictures.colours import BLUE, FAINT, ORANGE, QUIET
from tinyvit.pictures.sheet import Sheet


def patch_distances(config: ViTConfig) -> np.ndarray:
    """The distance d of every pair of patches, in pixels of the model's images: (T, T)."""
    r, c = np.indices(config.grid).reshape(2, -1)  # (T,) each
    return config.pixels_per_patch * np.hypot(r[:, None] - r, c[:, None] - c)  #              eq. 1


def attention_distance(config: ViTConfig, params: Params, images: Array) -> Array:
    """The mean attention distance of every head in pixels, for each image: (B, layers, heads).

    images (B, H, W, 3) are normalised. In a hybrid, distances are those of the patches in the image. Raises
    UserError for a ResNet on its own.
    """
    check_has_attention(config)
    xp = array_module(images)
    d = xp.asarray(patch_distances(config), dtype=images.dtype)
    return xp.stack([_distance(config, A, d) for A in attention_maps(config, params, images)], axis=1)


def uniform_distance(config: ViTConfig) -> float:
    """The distance in pixels of a head that draws the same from every patch."""
    h, w = config.grid
    a, b = np.arange(1 - h, h)[:, None], np.arange(1 - w, w)
    pairs = (h - abs(a)) * (w - abs(b))  # (2h - 1, 2w - 1)
    return float(config.pixels_per_patch * (pairs * np.hypot(a, b)).sum() / (h * w) ** 2)  #  eq. 3


def _distance(config: ViTConfig, A: Array, d: Array) -> Array:
    """Eq. 2 for probabilities A (B, H, N, N) and distances d (T, T): (B, H)."""
    xp = array_module(A)
    A = A[..., config.prefix :, config.prefix :]  # (B, H, T, T)
    drawn = xp.maximum(A.sum(axis=-1), xp.finfo(A.dtype).tiny)  # (B, H, T)
    return (xp.einsum("bhij,ij->bhi", A, d) / drawn).mean(axis=-1)


WIDTH, HEIGHT = 640, 400  # of the frame and its names, in points
NAMES, RIGHT = 62, 130  # room left of the frame, and right of it for the label of the dashed line


def save_distance(
    distance: np.ndarray, uniform: float, images: int, path: str | os.PathLike[str], title: str
) -> None:
    """Draw distances (layers, heads) in pixels, and that of uniform attention, to a PNG, atomically.

    images is how many the distances are a mean over. Raises UserError if the picture cannot be written.
    """
    layers, heads = distance.shape
    top = nice_ticks(0, max(distance.max(), uniform, 1e-3))
    where = f"mean over {images:,} images" if images > 1 else "in one image"

    def draw(sheet: Sheet, left: int) -> None:
        box = (left + NAMES, HEAD + 8, left + WIDTH - RIGHT, HEAD + HEIGHT)
        axes = Axes(sheet, box, (0.5, layers + 0.5), (0, top[-1]))
        axes.y_ticks(top)
        axes.x_ticks(whole_ticks(1, max(layers, 2), 12)[: layers if layers < 12 else None])
        axes.frame()
        axes.x_name("block")
        blocks = range(1, layers + 1)
        axes.curve((0.5, layers + 0.5), (uniform, uniform), ORANGE, 1.5, dashed=True)
        if layers > 1:
            axes.curve(blocks, distance.mean(axis=1), FAINT, 2)
        for block, row in zip(blocks, distance, strict=True):
            for value in sorted(row):
                sheet.dot(axes.place(block, value), 3.5, BLUE)
        ends = [(layers + 0.5, uniform, f"uniform: {uniform:.1f}", ORANGE)]
        if layers > 1 and heads > 1:
            ends.append((layers + 0.5, distance[-1].mean(), "mean of the heads", QUIET))
        axes.label_ends(ends, 13)

    part = Part("attention distance", f"in pixels, a dot for each head, {where}", WIDTH, HEIGHT, draw)
    save_parts([part], path, title, smooth=3)
