"""How a model expects its photos to be fitted, whatever their size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

FITS = ("crop", "pad", "squash")
FILTERS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")  # Pillow's names
LIBRARIES = ("tinyvit", "transformers", "timm")
GREY = (128, 128, 128)  # the middle of the range of pixels


@dataclass(frozen=True)
class PhotoFit:
    """How a photo of any size becomes an image for a model: resized, then cut, both at whole pixels.

    fit: 'crop' scales the photo to cover the frame and 'pad' scales it to fit into the frame, both keeping
    its proportions; 'squash' gives it the frame's proportions. frame and size are (height, width) in pixels;
    size is that of the image, which is cut out of the centre of the resized photo. Where that does not reach,
    the image is black or, for 'pad', of the colour border. resample is the name of one of Pillow's filters in
    lower case: PIL.Image.Resampling[resample.upper()].

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
        return prod(min(1.0, side / framed) for side, framed in zip(self.size, self.frame, strict=True))

    def at(self, size: tuple[int, int]) -> PhotoFit:
        """The same for images of another (height, width), with the frame scaled in proportion."""
        sides = zip(self.frame, size, self.size, strict=True)
        height, width = (max(1, round(side * new / old)) for side, new, old in sides)
        return replace(self, frame=(height, width), size=size)


def fit_for(size: tuple[int, int] | int, fit: PhotoFit | str | None) -> PhotoFit:
    """How photos are fitted to images of this (height, width), or of this side.

    A name is one of tinyvit's own fits, with a frame of the image's size; None is its usual one, 'crop'.
    """
    height, width = map(int, size if isinstance(size, Sequence) else (size, size))
    if isinstance(fit, PhotoFit):
        return fit.at((height, width))
    return PhotoFit(fit or "crop", (height, width), (height, width))
