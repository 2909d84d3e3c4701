"""Reading photos: the whole photo, and what a model sees of it.

A photo rarely has the shape that a model expects. As in transformers and timm, the whole photo is resized to
whole pixels, and the image is cut out of its centre at whole pixels; see PhotoFit. To resize exactly the part
that is seen would not give the same pixels.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from tinyvit.backend import Pool
from tinyvit.data.decoding import Box, Source, decode, name_of, without_pillow_warnings
from tinyvit.support.errors import UserError

LONGEST = 1000  # the longest side of the whole photo, in pixels
MUCH = 0.35  # cropping more than this share of a photo is reported; 3:2 loses slightly less

_OVERSAMPLING = 2  # a JPEG is decoded at no less than this many times the size of the view
_MOST_THREADS = 8

FITS = ("crop", "pad", "squash")
FILTERS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")  # Pillow's names
LIBRARIES = ("tinyvit", "transformers", "timm")
GREY = (128, 128, 128)  # the middle of the range of pixels


@dataclass(frozen=True)
class PhotoFit:
    """The way from a photo of any size to an image for a model: resized, then cut, both at whole pixels.

    fit: 'crop' scales the photo to cover the frame and 'pad' scales it to fit into the frame, both keeping
    its proportions; 'squash' gives it the frame's proportions. frame and size are (height, width) in pixels;
    size is that of the image, which is cut out of the centre of the resized photo. Where that does not reach,
    the image is black or, for 'pad', of the colour border. resample is the name of one of Pillow's filters in
    lower case: PIL.Image.Resampling[resample.upper()]. edge is how many (rows, columns) are then cut off the
    lower and right edge of the image, which no patch covers; the size is what remains.

    library is whose rounding is followed if an odd number of pixels is to be cut off: 'transformers' cuts the
    smaller half off first, 'timm' the half that is an even number. 'tinyvit' cuts as transformers does, but
    may take a shortcut, decoding a large JPEG at a fraction of its size. Raises ValueError for anything else.
    """

    fit: str
    frame: tuple[int, int]
    size: tuple[int, int]
    resample: str = "bicubic"
    library: str = "tinyvit"
    border: tuple[int, int, int] = GREY
    edge: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        (height, width), (framed_height, framed_width) = self.size, self.frame
        if min(height, width, framed_height, framed_width) < 1:
            raise ValueError(f"{self.size} pixels cut out of {self.frame}, expected at least 1 x 1 of both")
        if len(self.border) != 3 or not all(0 <= value <= 255 for value in self.border):
            raise ValueError(f"border is {self.border}, expected red, green and blue from 0 to 255")
        for name, choices in (("fit", FITS), ("resample", FILTERS), ("library", LIBRARIES)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected one of {', '.join(choices)}")

    @property
    def share(self) -> float:
        """The share of the frame's area that the model sees, 0..1."""
        return math.prod(min(1.0, side / framed) for side, framed in zip(self.size, self.frame, strict=True))

    def at(self, size: tuple[int, int]) -> PhotoFit:
        """The same for images of another (height, width), with the frame scaled in proportion.

        Their patches are taken to cover them: an edge that is cut off belongs to one size alone.
        """
        if size == self.size:
            return self
        by = [new / (old + cut) for new, old, cut in zip(size, self.size, self.edge, strict=True)]
        frame = max(1, round(self.frame[0] * by[0])), max(1, round(self.frame[1] * by[1]))
        return replace(self, frame=frame, size=size, edge=(0, 0))

    def covered_by(self, patch_size: int) -> PhotoFit:
        """The same without the edge that patches from the upper left on do not cover."""
        (height, width), (down, across) = self.size, (side % patch_size for side in self.size)
        if height < patch_size or width < patch_size:
            return self
        return replace(self, size=(height - down, width - across), edge=(down, across))


def fit_for(size: tuple[int, int] | int, fit: PhotoFit | str | None) -> PhotoFit:
    """The fit of photos to images of this (height, width), or of this side.

    A name is one of tinyvit's own fits, with a frame of the image's size; None is its usual one, 'crop'.
    """
    height, width = map(int, size if isinstance(size, Sequence) else (size, size))
    if isinstance(fit, PhotoFit):
        return fit.at((height, width))
    return PhotoFit(fit or "crop", (height, width), (height, width))


_LARGE = 1 << 24  # pixels: of a very thin photo, only the part that is seen is resized


def resized_size(fit: PhotoFit, frame: Box) -> tuple[int, int]:
    """Width and height, in whole pixels, to which the photo that fills the frame is resized."""
    width, height = sides(frame)
    down, across = fit.frame
    if fit.fit == "squash":
        return across, down
    if fit.fit == "crop" and down == across:  # what is left of a pixel is cut off
        longer = int(down * max(width, height) / min(width, height))
        return (down, longer) if width <= height else (longer, down)
    shrink = (min if fit.fit == "crop" else max)(height / down, width / across)
    return max(1, round(width / shrink)), max(1, round(height / shrink))  # a thin photo can still be seen


def seen_box(fit: PhotoFit, frame: Box) -> Box:
    """The box that the model sees of a photo that fills the frame; it may extend beyond the frame."""
    size = resized_size(fit, frame)
    return moved(_window(fit, size), (0, 0, *size), frame)


def fitted(fit: PhotoFit, image: Image.Image, frame: Box) -> Image.Image:
    """The part of the photo that the model sees, which fills the frame of an image."""
    size, resample = resized_size(fit, frame), Image.Resampling[fit.resample.upper()]
    left, top, right, bottom = _window(fit, size)
    part = max(left, 0), max(top, 0), min(right, size[0]), min(bottom, size[1])
    if size[0] * size[1] <= _LARGE:
        photo = image.resize(size, resample, frame).crop(part)
    else:
        box = intersection(moved(part, (0, 0, *size), frame), frame)
        photo = image.resize((part[2] - part[0], part[3] - part[1]), resample, box)
    seen = Image.new("RGB", (right - left, bottom - top), fit.border if fit.fit == "pad" else 0)
    seen.paste(photo, (part[0] - left, part[1] - top))
    return seen


def _window(fit: PhotoFit, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """The box of the image in a photo that has been resized to (width, height), in whole pixels."""
    height, width = fit.size
    uncut = width + fit.edge[1], height + fit.edge[0]
    left, top = (_start(fit, *lengths) for lengths in zip(size, uncut, strict=True))
    return left, top, left + width, top + height


def _start(fit: PhotoFit, length: int, side: int) -> int:
    """The start of a side of the image along that length; negative if the photo is shorter."""
    if fit.library == "timm":
        return round((length - side) / 2) if length > side else -((side - length) // 2)
    return (length - side) // 2


def moved(box: Box, frame: Box, other: Box) -> Box:
    """The box that lies in the other frame where the given one lies in the frame."""
    across, down = (new / old for new, old in zip(sides(other), sides(frame), strict=True))
    left, top = other[0] - frame[0] * across, other[1] - frame[1] * down
    return left + box[0] * across, top + box[1] * down, left + box[2] * across, top + box[3] * down


def intersection(one: Box, other: Box) -> Box:
    """The box that two overlapping boxes have in common."""
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])


def sides(box: Box) -> tuple[float, float]:
    """Width and height of a box."""
    return box[2] - box[0], box[3] - box[1]


def area(box: Box) -> float:
    """Width times height of a box."""
    width, height = sides(box)
    return width * height


@dataclass(frozen=True, eq=False)
class Photo:
    """A photo and what a model sees of it.

    path: the image file. view: uint8 (h, w, 3), what the model sees. whole: the upright
    photo, uint8 (H, W, 3), neither side longer than LONGEST pixels; None if it was not requested. box: (left,
    top, right, bottom) of what the model sees, in fractional pixels of the whole; with padding it extends
    beyond the whole. lost: the share of the photo's area, 0..1, that is outside the box.
    """

    path: Path
    view: np.ndarray
    whole: np.ndarray | None
    box: Box
    lost: float


def read_photo(
    source: Source, size: tuple[int, int] | int, fit: PhotoFit | str | None = None, *, with_whole: bool = True
) -> Photo:
    """A source of an image as a Photo with a view of that size: (height, width), or one number for a square.

    fit is a PhotoFit, or the name of one of tinyvit's own, 'crop' by default. Only the first picture of an
    animation is read; transparent pixels are shown on white. Raises UserError if there is no such file or it
    cannot be read.
    """
    with without_pillow_warnings():
        return _read(fit_for(size, fit), with_whole, source)


def read_photos(
    sources: Iterable[Source],
    size: tuple[int, int] | int,
    fit: PhotoFit | str | None = None,
    *,
    with_whole: bool = True,
) -> Generator[Photo | UserError]:
    """The result of read_photo for each source, in order, or the UserError where it would raise one.

    Several files are decoded at a time, on threads, but only a few are kept in memory.
    """
    threads, fit = min(_MOST_THREADS, os.cpu_count() or 1), fit_for(size, fit)
    waiting: deque[Future[Photo | UserError]] = deque()
    with without_pillow_warnings(), Pool(threads) as pool:
        try:
            for source in sources:
                waiting.append(pool.submit(_read_or_error, fit, with_whole, source))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:  # no longer needed
                future.cancel()


def what_was_cropped(lost: Sequence[tuple[float, Path]]) -> Iterator[str]:
    """A line if cropping has cut much off some photos; lost is the share, 0..1, and the path of each."""
    much = [(share, path) for share, path in lost if share > MUCH]
    if not much:
        return
    most, path = max(much)
    share = f"{math.floor(100 * most)}%"  # never all of it
    if len(much) == 1:
        yield f"cropping cut {share} off {path}; with --fit pad the model sees all of it"
    else:
        yield (
            f"cropping cut more than a third off {len(much):,} of {len(lost):,} images, {share} off "
            f"{path}; with --fit pad the model sees all of them"
        )


def _read(fit: PhotoFit, with_whole: bool, source: Source) -> Photo:
    image, frame = decode(source, partial(_most_reduced, fit) if fit.library == "tinyvit" else None)
    box, view = seen_box(fit, frame), np.array(fitted(fit, image, frame))
    lost = max(0.0, 1 - area(intersection(box, frame)) / area(frame))
    width, height = sides(frame)
    shrink = min(1.0, LONGEST / max(width, height))
    size = max(1, round(shrink * width)), max(1, round(shrink * height))
    whole = np.array(image.resize(size, Image.Resampling.BICUBIC, frame)) if with_whole else None
    return Photo(Path(name_of(source)), view, whole, moved(box, frame, (0, 0, *size)), lost)


def _read_or_error(fit: PhotoFit, with_whole: bool, source: Source) -> Photo | UserError:
    try:
        return _read(fit, with_whole, source)
    except UserError as error:
        return error


def _most_reduced(fit: PhotoFit, width: int, height: int) -> float:
    """The factor by which a JPEG of that size may be reduced without visible loss in view or whole."""
    resized = resized_size(fit, (0, 0, width, height))
    for_view = min(width / resized[0], height / resized[1]) / _OVERSAMPLING
    return max(1.0, min(for_view, max(width, height) / LONGEST))
