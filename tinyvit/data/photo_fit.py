"""How a model expects its photos to be fitted, whatever their size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tinyvit.data.fitting import Fitting


@dataclass(frozen=True)
class PhotoFit:
    """How a photo of any size becomes an image for a model: resized to a frame, whose centre is cut out.

    fit: 'crop' scales the photo to cover the frame and 'pad' scales it to fit into the frame with a border,
    both keeping its proportions; 'squash' gives it the frame's proportions. frame and size are (height,
    width) in pixels; size is that of the image cut out of the frame's centre. resample is the name of one of
    Pillow's filters in lower case: PIL.Image.Resampling[resample.upper()]. Raises ValueError for anything
    else. What is then done to a photo is a Fitting.
    """

    fit: str
    frame: tuple[int, int]
    size: tuple[int, int]
    resample: str = "bicubic"

    def __post_init__(self) -> None:
        for frame, side in zip(self.frame, self.size, strict=True):
            if not 1 <= side <= frame:
                raise ValueError(f"{side} pixels cut out of {frame}")
        Fitting(*self.size, **self.settings)  # raises ValueError for what cannot be done

    @property
    def settings(self) -> dict[str, Any]:
        """The same as keyword arguments for data.read_photo: fit, resample and crop_share."""
        shares = (min(side / framed, 1.0) for side, framed in zip(self.size, self.frame, strict=True))
        return {"fit": self.fit, "resample": self.resample, "crop_share": tuple(shares)}

    def at(self, size: tuple[int, int]) -> PhotoFit:
        """The same for images of another (height, width), with the frame scaled in proportion."""
        sides = zip(self.frame, size, self.size, strict=True)
        height, width = (round(side * new / old) for side, new, old in sides)
        return replace(self, frame=(height, width), size=size)


def fit_for(size: tuple[int, int], fit: PhotoFit | None) -> PhotoFit:
    """How photos are fitted to images of this (height, width): as fit says or, for None, as tinyvit does."""
    return fit.at(size) if fit else PhotoFit("crop", size, size)
