"""Reading one photo: the whole of it, and what a model sees of it.

A photo is rarely of the shape that a model takes. What the model sees is a box in the centre of the photo, resized:

    crop      the largest box of the model's shape that lies within the photo
    pad       the smallest box of the model's shape that holds the photo; grey where it reaches beyond
    squash    the whole photo, which loses its proportions

A crop_share below 1 shrinks the box towards its centre, which is how many published models were evaluated.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from tinyvit.data.decoding import Box, decode, without_warnings
from tinyvit.errors import UserError

FITS = ("crop", "pad", "squash")
FILTERS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")  # Pillow's names
LONGEST = 1000  # side of the whole photo, in pixels
GREY = (128, 128, 128)  # of the padding: the middle of what a model is given

_OVERSAMPLING = 2  # a JPEG is decoded at this many times the size of the view, or larger
_MOST_THREADS = 8


@dataclass(frozen=True, eq=False)
class Photo:
    """A photo and what a model sees of it.

    name: of the file, without its folder. view: uint8 (h, w, 3), what the model sees. whole: the upright photo,
    uint8 (H, W, 3), neither side longer than LONGEST pixels; None if it was not asked for. box: (left, top,
    right, bottom) of what the model sees, in pixels of the whole, with fractions; padding reaches beyond it.
    lost: the share of the photo's area, 0..1, that lies outside the box.
    """

    name: str
    view: np.ndarray
    whole: np.ndarray | None
    box: Box
    lost: float


def read_photo(
    path: Path,
    size: tuple[int, int] | int,
    fit: str = "crop",
    *,
    resample: str = "bicubic",
    crop_share: float = 1.0,
    with_whole: bool = True,
) -> Photo:
    """An image file as a Photo with a view of that size: (height, width), or one number for a square.

    fit is one of FITS, resample one of FILTERS; crop_share, above 0 and up to 1, is the share of the box's width
    and height that the model sees. Of an animation, the first picture is read; what is transparent lies on white.

    Raises UserError if there is no such file or it cannot be read, ValueError for any other size, fit, resample
    or crop_share.
    """
    fitting = _checked(size, fit, resample, crop_share)
    with without_warnings():
        return _read(fitting, with_whole, path)


def read_photos(
    paths: Sequence[Path],
    size: tuple[int, int] | int,
    fit: str = "crop",
    *,
    resample: str = "bicubic",
    crop_share: float = 1.0,
    with_whole: bool = True,
) -> Iterator[Photo | UserError]:
    """What read_photo returns for each path, in order; where it would raise a UserError, that error.

    Several files are decoded at a time, on threads, and few of them wait in memory.
    """
    fitting = _checked(size, fit, resample, crop_share)
    with without_warnings():
        yield from _on_threads(partial(_read_or_error, fitting, with_whole), paths)


def read_image(path: Path, size: tuple[int, int] | int) -> np.ndarray:
    """What a model sees of an image file, cropped: the view of read_photo, uint8 (height, width, 3)."""
    return read_photo(path, size, with_whole=False).view


class _Fitting(NamedTuple):
    """How a photo is fitted to a model, checked."""

    width: int
    height: int
    fit: str
    resample: Image.Resampling
    crop_share: float


def _checked(size: tuple[int, int] | int, fit: str, resample: str, crop_share: float) -> _Fitting:
    height, width = (size, size) if isinstance(size, int) else size
    if min(height, width) < 1:
        raise ValueError(f"size is {size}, expected at least 1 x 1 pixels")
    if fit not in FITS:
        raise ValueError(f"fit is {fit!r}, expected one of {', '.join(FITS)}")
    if resample not in FILTERS:
        raise ValueError(f"resample is {resample!r}, expected one of {', '.join(FILTERS)}")
    if not 0 < crop_share <= 1:
        raise ValueError(f"crop_share is {crop_share}, expected a number above 0 and up to 1")
    return _Fitting(width, height, fit, Image.Resampling[resample.upper()], crop_share)


def _read_or_error(fitting: _Fitting, with_whole: bool, path: Path) -> Photo | UserError:
    try:
        return _read(fitting, with_whole, path)
    except UserError as error:
        return error


def _read(fitting: _Fitting, with_whole: bool, path: Path) -> Photo:
    image, frame = decode(path, partial(_most_reduced, fitting))
    box = _seen_box(frame, fitting)
    view = np.array(_resized(image, box, _intersection(box, frame), fitting))
    lost = max(0.0, 1 - _area(_intersection(box, frame)) / _area(frame))
    whole_size = _whole_size(frame)
    whole = np.array(image.resize(whole_size, Image.Resampling.BICUBIC, frame)) if with_whole else None
    return Photo(Path(path).name, view, whole, _in_pixels_of(whole_size, frame, box), lost)


def _most_reduced(fitting: _Fitting, width: int, height: int) -> float:
    """By how much a JPEG may be reduced such that neither the view nor the whole shows it."""
    box = _seen_box((0, 0, width, height), fitting)
    for_view = min(_width(box) / fitting.width, _height(box) / fitting.height) / _OVERSAMPLING
    return max(1.0, min(for_view, max(width, height) / LONGEST))


def _seen_box(frame: Box, fitting: _Fitting) -> Box:
    """The box that the model sees of a photo that fills the frame."""
    left, top, right, bottom = frame
    width, height = right - left, bottom - top
    shape = fitting.width / fitting.height
    if fitting.fit != "squash" and width / height != shape:
        if (width / height > shape) == (fitting.fit == "crop"):
            width = shape * height
        else:
            height = width / shape
    width, height = fitting.crop_share * width, fitting.crop_share * height
    left += (right - left - width) * 0.5
    top += (bottom - top - height) * 0.5
    return left, top, left + width, top + height


def _resized(image: Image.Image, box: Box, within: Box, fitting: _Fitting) -> Image.Image:
    """The box of an image, resized; grey but for the part of the box that is within the photo."""
    size = fitting.width, fitting.height
    if within == box:
        return image.resize(size, fitting.resample, box)
    left, top, right, bottom = (round(edge) for edge in _in_pixels_of(size, box, within))
    right, bottom = max(right, left + 1), max(bottom, top + 1)  # a thin photo is still to be seen
    view = Image.new("RGB", size, GREY)
    view.paste(image.resize((right - left, bottom - top), fitting.resample, within), (left, top))
    return view


def _whole_size(frame: Box) -> tuple[int, int]:
    """Width and height of the whole photo: those of the frame, shrunk until neither is above LONGEST."""
    shrunk = min(1.0, LONGEST / max(_width(frame), _height(frame)))
    return max(1, round(shrunk * _width(frame))), max(1, round(shrunk * _height(frame)))


def _in_pixels_of(size: tuple[int, int], frame: Box, box: Box) -> Box:
    """Where a box lies once what is within the frame is resized to size (width, height)."""
    left, top, right, bottom = box
    across, down = size[0] / _width(frame), size[1] / _height(frame)
    return (
        (left - frame[0]) * across,
        (top - frame[1]) * down,
        (right - frame[0]) * across,
        (bottom - frame[1]) * down,
    )


def _intersection(one: Box, other: Box) -> Box:
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])


def _width(box: Box) -> float:
    return box[2] - box[0]


def _height(box: Box) -> float:
    return box[3] - box[1]


def _area(box: Box) -> float:
    return _width(box) * _height(box)


def _on_threads(read: Callable[[Path], Photo | UserError], paths: Sequence[Path]) -> Iterator[Photo | UserError]:
    """read(path) for each path, in order, a few of them ahead of the one that is asked for."""
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    waiting = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for path in paths:
                waiting.append(pool.submit(read, path))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:  # nobody asks for them any more
                future.cancel()
