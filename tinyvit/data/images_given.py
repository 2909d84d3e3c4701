"""The images that a program gives: paths, bytes, open files, images of Pillow, and arrays of pixels.

The pixels of arrays are bytes, 0 for black and 255 for white, or fractions from 0 to 1.
"""

import io
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tinyvit.data.decoding import Source
from tinyvit.support.errors import UserError

DARK = 128  # the byte that few or no dark images reach
FEW = 0.05  # of the images, or of the values
_ROUNDING = 1e-3  # beyond 0 and 1, as resizing leaves it; less than half a byte


class Scaled(np.ndarray):
    """uint8 pixels that are known to be on the scale 0 to 255, however dark they are."""


def is_photo(given: Any) -> bool:
    """True if this is an image to decode or fit, and not an array of pixels."""
    return isinstance(given, str | os.PathLike | bytes | bytearray | Image.Image) or hasattr(given, "read")


def source_of(photo: Any) -> Source:
    """Such an image as decoding.decode takes it. Raises UserError for a file that was opened as text."""
    if isinstance(photo, Image.Image):
        return photo
    if isinstance(photo, str | os.PathLike):
        return Path(photo)
    content = photo if isinstance(photo, bytes | bytearray) else photo.read()
    if not isinstance(content, bytes | bytearray):
        raise UserError("an open file gave text, expected bytes: open it with mode 'rb'.")
    return io.BytesIO(content)


def photos_in(images: Any) -> list[Any] | None:
    """The photos, if images are a photo, or a list, an array or a column of photos; otherwise None."""
    if is_photo(images):
        return [images]
    if getattr(getattr(images, "dtype", None), "kind", None) in ("O", "U", "T") and images.ndim == 1:
        images = np.asarray(images).tolist()  # of NumPy or pandas
    photos = isinstance(images, list | tuple) and images and all(map(is_photo, images))
    return list(images) if photos else None


def pixels_of(images: Any, read: Callable[[Source], np.ndarray], *, to_learn: bool = False) -> np.ndarray:
    """uint8 pixels (n, H, W, 3) of arrays, of a photo, or of a list of photos, each made into pixels by read.

    Arrays are (n, H, W, 3) or grey, (n, H, W) or (n, H, W, 1), or one image, without n. Values are as for
    as_bytes. A warning says that images are dark, which arrays to_learn from must not be. Raises UserError
    for anything else, and for shapes that may be one image or several.
    """
    if isinstance(images, Iterator) and not is_photo(images):  # an open file would iterate over its lines
        images = list(images)
    if photos := photos_in(images):
        images = np.array([read(source_of(photo)) for photo in photos])
    try:
        pixels = np.asarray(images)
    except ValueError:  # as NumPy says of sequences that make no array
        raise UserError(
            "the images differ in size or kind: expected all of one shape, or image files only."
        ) from None
    except (TypeError, RuntimeError) as error:  # a tensor with gradients, or on a GPU
        raise UserError(
            f"{type(images).__name__} cannot be read as an array ({error}): turn it into one first, for "
            "example with detach().cpu().numpy()."
        ) from None
    if pixels.size == 0:
        raise UserError("there are no images: expected at least one.")
    if pixels.dtype.kind not in "biuf":
        raise UserError(
            f"{type(images).__name__} of {pixels.dtype} is not images: expected uint8 pixels, "
            "(n, height, width, 3), an image file, or a list of files."
        )
    listed = isinstance(images, list | tuple) and hasattr(images[0], "shape")
    pixels = as_bytes(_channels_last(pixels, listed))
    why = darkness(pixels, FEW if to_learn else 0)
    if why and not isinstance(images, Scaled):
        if to_learn and not photos:
            raise UserError(f"{why}.")
        warnings.warn(f"{why}.", stacklevel=4)
    return np.repeat(pixels, 3, axis=3) if pixels.shape[3] == 1 else pixels


def _channels_last(pixels: np.ndarray, listed: bool) -> np.ndarray:
    """The same images as (n, H, W, 1 or 3); listed are those that came as a list of arrays."""
    given = pixels.shape
    if pixels.ndim == 3 and not listed:
        if given[2] in (1, 3):
            return pixels[None]
        if given[0] in (3, 4) or given[2] in (2, 4):
            raise UserError(
                f"the images have shape {given}, which may be several grey ones, or one with channels: "
                "expected x[..., None] for grey images, or (height, width, 3) for one image, for example "
                "numpy.moveaxis(x, 0, 2)[..., :3]."
            )
    if pixels.ndim == 2 and not listed:
        pixels = pixels[None]
    if pixels.ndim == 3:
        pixels = pixels[..., None]  # grey
    if pixels.ndim != 4 or pixels.shape[3] not in (1, 3):
        raise UserError(
            f"the images have shape {given}, expected (n, height, width, 3), grey (n, height, width), or one "
            "image without the first axis. Channels come last, without transparency: numpy.moveaxis(x, 1, 3) "
            "or x[..., :3] may help."
        )
    return pixels


def as_bytes(images: np.ndarray, name: str = "the images") -> np.ndarray:
    """Pixels as uint8: whole numbers from 0 to 255 as they are, fractions from 0 to 1 scaled.

    Raises UserError for any other values, calling the images by that name.
    """
    if images.dtype == np.uint8:
        return images
    if images.dtype.kind in "fiu":
        low, high = images.min(), images.max()
        if images.dtype.kind == "f" and -_ROUNDING <= low <= high <= 1 + _ROUNDING and not 0 < high < 1 / 255:
            return (images * images.dtype.type(255)).round().astype(np.uint8)
        if 0 <= low <= high <= 255 and (images == images.round()).all():
            return images.astype(np.uint8)
    values = f" from {images.min():g} to {images.max():g}" if images.dtype.kind in "fiu" else ""
    raise UserError(
        f"{name} are {images.dtype}{values}, expected uint8 pixels from 0 to 255, or fractions from 0 to 1: "
        "scale them so that 0 is black and 255 is white, as (x + 1) * 127.5 does with -1 to 1, and convert "
        "them with x.round().astype('uint8')."
    )


def darkness(images: np.ndarray, few: float = 0) -> str:
    """The reason why uint8 images (n, H, W, 3) may be on a scale below 0 to 255: (nearly) all are dark.

    Empty if they are not, or are black.
    """
    highest = np.quantile(images.reshape(len(images), -1).max(axis=1), 1 - few, method="higher")
    if not 0 < highest < DARK:
        return ""
    return (
        f"the images are dark: hardly a pixel is above {highest}, and white is 255. If {highest} is white "
        f"in them, scale them by 255 / {highest}"
    )
