"""The images that a program gives: paths, bytes, open files, images of Pillow, and arrays of pixels."""

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tinyvit.data.decoding import Source
from tinyvit.errors import UserError


def is_photo(given: Any) -> bool:
    """Whether something is an image to decode or fit, and not an array of pixels."""
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


def pixels_of(images: Any, read: Callable[[Source], np.ndarray]) -> np.ndarray:
    """uint8 pixels (n, H, W, 3) of arrays, of a photo, or of a list of photos, each made into pixels by read.

    Arrays are (n, H, W, 3) or grey, (n, H, W) or (n, H, W, 1), or one image, (H, W, 3) or (H, W). Raises
    UserError for anything else.
    """
    if is_photo(images):
        images = [images]
    if isinstance(images, Iterator):
        images = list(images)
    if isinstance(images, list | tuple) and images and all(map(is_photo, images)):
        images = np.array([read(source_of(image)) for image in images])
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
    given = pixels.shape
    if pixels.size == 0:
        raise UserError("there are no images: expected at least one.")
    if pixels.dtype.kind not in "biuf":
        raise UserError(
            f"{type(images).__name__} of {pixels.dtype} is not images: expected uint8 pixels, "
            "(n, height, width, 3), an image file, or a list of files."
        )
    if pixels.dtype != np.uint8:
        raise UserError(
            f"the images are {pixels.dtype}, expected uint8 pixels from 0 to 255: tinyvit normalises "
            "them itself."
        )
    if pixels.ndim == 2 or (pixels.ndim == 3 and given[2] == 3):
        pixels = pixels[None]
    if pixels.ndim == 3:
        pixels = pixels[..., None]  # grey
    if pixels.ndim != 4 or pixels.shape[3] not in (1, 3):
        raise UserError(
            f"the images have shape {given}, expected (n, height, width, 3), grey (n, height, width), or one "
            "image without the first axis."
        )
    return np.repeat(pixels, 3, axis=3) if pixels.shape[3] == 1 else pixels
