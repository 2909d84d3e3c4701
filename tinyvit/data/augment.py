"""Random crops and flips, and normalising bytes to numbers around 0; for NumPy and CuPy alike.

The usual way to make a random crop is to pad every image and cut a window out of it. Here nothing is padded
and there is no loop over images: the source row and column of every output row and column are computed, and
one gather fetches the whole batch. Where the window extends k pixels beyond the edge, it shows the image
mirrored,

    -k -> k        H - 1 + k -> H - 1 - k

so reflecting the index does what numpy.pad(mode="reflect") would do to the pixels. The gather treats the data
set as one long list of pixels, (n H W, 3): on a CPU, taking whole pixels from it by index is four times as
fast as indexing with image, row and column.
"""

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.ops.resize import resize_images


def draw_augmentation(
    rng: np.random.Generator, count: int, padding: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random (down, right, flip), each (count,): shifts from -padding to padding, and whether to mirror."""
    down, right = rng.integers(-padding, padding, size=(2, count), endpoint=True)
    return down, right, rng.random(count) < 0.5


def crop_and_flip(images: Array, indices: Array, down: Array, right: Array, flip: Array) -> Array:
    """The chosen images, each seen through a window moved down and to the right, then mirrored if flip.

    images: uint8 (n, H, W, 3); indices, down, right, flip: (B,) each, in main memory or on the device of the
    images; returns uint8 (B, H, W, 3). The shifts, in pixels, must be smaller than the image.
    """
    xp = array_module(images)
    indices, down, right, flip = (
        xp.asarray(each)[:, None] for each in (indices, down, right, flip)
    )  # (B, 1)
    height, width = images.shape[1:3]
    column = xp.arange(width)
    rows = _reflect(xp.arange(height) + down, height)  # (B, H)
    columns = _reflect(xp.where(flip, width - 1 - column, column) + right, width)  # (B, W)
    pixels = (indices * height + rows)[:, :, None] * width + columns[:, None, :]  # (B, H, W)
    pixels = pixels.astype(xp.intp, copy=False)  # take refuses wider ones where pointers have 32 bits
    return images.reshape(-1, 3).take(pixels, axis=0)  # (B, H, W, 3)


def normalise(images: Array, dtype: np.dtype) -> Array:
    """Bytes 0..255 to -1..1, in float32 or float64, as the official ViT code does: (x - 127.5) / 127.5."""
    x = images.astype(dtype)
    x -= 127.5
    x /= 127.5
    return x


def to_input(images: Array, dtype: np.dtype, size: tuple[int, int]) -> Array:
    """Bytes (B, H, W, 3) to a model's input of that image size: normalised, and resized if necessary."""
    return resize_images(normalise(images, dtype), size)


def _reflect(index: Array, size: int) -> Array:
    """The indices, with those below 0 or above size - 1 mirrored at the first or last one."""
    return size - 1 - abs(size - 1 - abs(index))
