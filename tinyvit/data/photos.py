"""Reading photos: the whole photo, and what a model sees of it."""

import math
import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from tinyvit.backend import Pool
from tinyvit.data.decoding import Box, Source, decode, name_of, without_pillow_warnings
from tinyvit.data.photo_fit import (
    PhotoFit,
    area,
    fit_for,
    fitted,
    intersection,
    moved,
    resized_size,
    seen_box,
    sides,
)
from tinyvit.support.errors import UserError

LONGEST = 1000  # the longest side of the whole photo, in pixels
MUCH = 0.35  # cropping more than this share of a photo is reported; 3:2 loses slightly less

_OVERSAMPLING = 2  # a JPEG is decoded at no less than this many times the size of the view
_MOST_THREADS = 8


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
    """What read_photo returns for each source, in order, or the UserError where it would raise one.

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
