"""Decoding an image file of any kind into upright, opaque pixels in 8-bit RGB.

A JPEG decoder can produce the image at 1/2, 1/4 or 1/8 of its size directly, several times faster than at
full size and in as little as a 64th of the memory. If the sides are not divisible by that, the last row or
column of pixels is only partly covered by the image. An image is therefore returned with its frame, a box in
fractions of pixels that contains exactly the image.
"""

import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError
from PIL.ExifTags import Base

from tinyvit.data.image_files import readable_formats
from tinyvit.support.errors import UserError, without_warnings
from tinyvit.support.files import open_regular

Box = tuple[float, float, float, float]  # (left, top, right, bottom), in pixels from the top left corner

Source = Path | io.BytesIO | Image.Image  # an image file, the bytes of one, or an image of Pillow

WHITE = (255, 255, 255)  # the background behind transparent pixels

MOST_PIXELS = 1 << 26  # 8192 x 8192
_LARGE, _ONE_LARGE = 1 << 24, Lock()  # only one image of more pixels is decoded at a time
_LARGE_READ = 1 << 20  # bytes
_JPEGS = ("JPEG", "MPO")  # MPO: a JPEG followed by further images, as some phones write it
_UPRIGHT = {  # what turns an image upright, by its EXIF orientation, which says how the camera was held
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SIGNED = 2  # a sample format
_SIDEWAYS = (5, 6, 7, 8)  # orientations whose width is the height of the upright image
_TO_THE_RIGHT, _TO_THE_BOTTOM = (2, 3, 6, 7), (3, 4, 7, 8)  # orientations that move the first pixel there


def decode(
    source: Source, most_reduced: Callable[[int, int], float] | None = None
) -> tuple[Image.Image, Box]:
    """The image of a source, upright and in mode RGB, and its frame; for an animation, the first picture.

    most_reduced(width, height), called with the size of the upright image, returns the largest factor, 1 or
    more, by which it may be reduced. A JPEG is then decoded at 1/2, 1/4 or 1/8 of its size within that limit;
    all other images keep their size. Raises UserError if there is no such file, it is not a regular file,
    Pillow cannot decode it, or it would have more than MOST_PIXELS pixels. Decoding takes up to 2.5 GB of
    memory, on all threads together: those with large images wait for each other.
    """
    try:
        with _opened(source) as image:
            whole = image.size
            own = image is not source  # whose state others may go on using
            reduced = _reduce(image, most_reduced) if most_reduced and own else None
            pixels = _pixels(image, whole)
            if pixels > MOST_PIXELS:
                raise Image.DecompressionBombError
            with _ONE_LARGE if pixels > _LARGE else nullcontext():
                image.load()
                orientation = _orientation(image)
                upright = image.transpose(_UPRIGHT[orientation]) if orientation in _UPRIGHT else image
                rgb = _on_white(_eight_bits(upright, getattr(image, "tag_v2", {})))
    except FileNotFoundError:
        if re.match(r"\w{2,}:/", name_of(source)):  # of a Path, which has lost a slash
            raise UserError(f"{name_of(source)} is an address: download it, and give the file.") from None
        raise UserError(f"{name_of(source)} does not exist, expected an image file.") from None
    except Image.DecompressionBombError as error:
        raise UserError(
            f"{name_of(source)} has more than {MOST_PIXELS:,} pixels, the largest size that is read: save it "
            "at a smaller size."
        ) from error
    except MemoryError as error:
        raise UserError(f"{name_of(source)} does not fit into memory: save it at a smaller size.") from error
    except Exception as error:  # Pillow's decoders raise all kinds of exceptions on damaged files
        raise UserError(
            f"{name_of(source)} cannot be read as an image ({_reason(error, source)}); {_remedy(source)}."
        ) from error
    return rgb, _frame(rgb, reduced, orientation)


@contextmanager
def _opened(source: Source) -> Iterator[Image.Image]:
    """The image of a source, not decoded yet."""
    if isinstance(source, Image.Image):
        yield source
        return
    with (
        _Modest(open_regular(source)) if isinstance(source, Path) else nullcontext(source) as file,
        Image.open(file, formats=readable_formats()) as image,
    ):
        yield image


def name_of(source: Source) -> str:
    """The name of a source in messages: the path of its file, if it has one."""
    if isinstance(source, Path):
        return str(source)
    return str(getattr(source, "name", "") or getattr(source, "filename", "") or "the image")


class _Modest(io.BufferedReader):
    """A file of which no more is asked for than there is.

    Python makes room for as much as is asked for, and Pillow asks for whatever a header claims.
    """

    def __init__(self, file: io.BufferedReader):
        self._length = os.fstat(file.fileno()).st_size
        super().__init__(file.detach())

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _LARGE_READ:
            size = min(size, max(0, self._length - self.tell()))
        return super().read(size)


@contextmanager
def without_pillow_warnings() -> Iterator[None]:
    """Within this context, Pillow does not warn about large images and damaged metadata."""
    with without_warnings(Image.DecompressionBombWarning), without_warnings(module=r"PIL\."):
        yield


def _reduce(image: Image.Image, most_reduced: Callable[[int, int], float]) -> tuple[float, float] | None:
    """Have a JPEG decoded at a fraction of its size; returns its exact reduced width and height, or None."""
    if image.format not in _JPEGS:
        return None
    width, height = image.size
    most = most_reduced(*(image.size[::-1] if _orientation(image) in _SIDEWAYS else image.size))
    reduction = max(one for one in (1, 2, 4, 8) if one <= most)
    drafted = image.draft(None, (max(1, width // reduction), max(1, height // reduction)))
    return drafted[1][2:] if drafted else None


def _pixels(image: Image.Image, whole: tuple[int, int]) -> int:
    """Number of pixels that have to be in memory to decode an image.

    That is the whole of a progressive JPEG, and one tile of a TIFF beside it, which may be far larger.
    """
    tags: Any = getattr(image, "tag_v2", {}) if image.format == "TIFF" else {}
    sides = [tags.get(tag) for tag in (Base.TileWidth, Base.TileLength)]
    tile = prod(map(abs, sides)) if all(isinstance(side, int) for side in sides) else 0
    return prod(whole if image.info.get("progressive") else image.size) + tile


def _frame(image: Image.Image, reduced: tuple[float, float] | None, orientation: int) -> Box:
    """The box that the image fills: everything except what rounding up the sides of a reduced image added."""
    width, height = reduced or image.size
    if reduced and orientation in _SIDEWAYS:
        width, height = height, width
    left, right = (image.width - width, image.width) if orientation in _TO_THE_RIGHT else (0, width)
    top, bottom = (image.height - height, image.height) if orientation in _TO_THE_BOTTOM else (0, height)
    return left, top, right, bottom


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation, 1 to 8; 1, which is upright, if the EXIF data are damaged."""
    try:
        return image.getexif().get(Base.Orientation, 1)
    except Exception:  # Pillow may raise anything here; the image itself may be intact
        return 1


def _eight_bits(image: Image.Image, tags: Any) -> Image.Image:
    """The same image with 8 bits per channel: Pillow itself would clip 16-bit greys at 255.

    tags are those of a TIFF, of which Pillow heeds neither signs nor, with 16 bits, that white is 0.
    """
    if image.mode == "F":
        raise ValueError("its pixels are floating-point numbers of unknown range")
    if 32 in tags.get(Base.BitsPerSample, ()):
        raise ValueError("its pixels are 32-bit numbers of unknown range")
    if _SIGNED in tags.get(Base.SampleFormat, ()):
        raise ValueError("its pixels are signed numbers of unknown range")
    if image.mode.startswith("I"):
        pixels = np.asarray(image).astype(np.int32)
        if pixels.min() < 0 or pixels.max() > 0xFFFF:
            raise ValueError("its pixels are 32-bit numbers of unknown range")
        white = 0xFFF if 12 in tags.get(Base.BitsPerSample, ()) else 0xFFFF
        levels = (pixels * 255 + white // 2) // white
        is_inverted = tags.get(Base.PhotometricInterpretation) == 0
        grey = Image.fromarray(abs(levels - 255 * is_inverted).astype(np.uint8))
        if isinstance(clear := image.info.get("transparency"), int):
            grey.putalpha(Image.fromarray(np.where(pixels == clear, 0, 255).astype(np.uint8)))
        return grey
    return image


def _on_white(image: Image.Image) -> Image.Image:
    """The image in mode RGB, on a white background where it is transparent."""
    if not image.has_transparency_data:
        return image.convert("RGB")
    rgba = image.convert("RGBA")
    opaque = Image.new("RGB", image.size, WHITE)
    opaque.paste(rgba, mask=rgba)
    return opaque


def _remedy(source: Source) -> str:
    if name_of(source).lower().endswith((".heic", ".heif")) and "HEIF" not in readable_formats():
        return "install pillow-heif to read such photos (pip install pillow-heif), or save it again as JPEG"
    return "remove it, or save it again as PNG or JPEG"


def _reason(error: Exception, source: Source) -> str:
    if isinstance(error, UnidentifiedImageError):
        size = len(source.getbuffer()) if isinstance(source, io.BytesIO) else os.path.getsize(str(source))
        return "Pillow does not recognise its format" if size else "it is empty: it has 0 bytes"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
