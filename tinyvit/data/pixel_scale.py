"""The scale of pixels in arrays: bytes, 0 for black and 255 for white, or what a classifier was fitted on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import isfinite

import numpy as np

from tinyvit.errors import UserError

DARK = 128  # the byte that few or no dark images reach
FEW = 0.05  # of the images, or of the values
_ROUNDING = 1e-3  # beyond 0 and 1, as resizing leaves it; less than half a byte
_MANY = 10  # images, which do not lie outside all training images by chance
_SLIVER = 1 / 8  # of the range of the training images


class Scaled(np.ndarray):
    """uint8 pixels that are known to be on the scale 0 to 255, however dark they are."""


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
    """Why uint8 images (n, H, W, 3) may be on a smaller scale than 0 to 255: all, or all but few, are dark.

    Empty if they are not, or are black.
    """
    highest = np.quantile(images.reshape(len(images), -1).max(axis=1), 1 - few, method="higher")
    if not 0 < highest < DARK:
        return ""
    return (
        f"the images are dark: hardly a pixel is above {highest}, and white is 255. If {highest} is white "
        f"in them, scale them by 255 / {highest}"
    )


@dataclass(frozen=True)
class Pixels:
    """The shape of a training image, and the range of values that becomes 0 to 255; None for bytes.

    lowest is (a, b): no image has its lowest value above b, and few have it above a. highest is (a, b): no
    image has its highest value below b, and few have it below a.
    """

    shape: tuple[int, ...]
    range: tuple[float, float] | None
    lowest: tuple[float, float]
    highest: tuple[float, float]

    @classmethod
    def of(cls, X: np.ndarray, least: int = DARK) -> Pixels:
        """The shape and range of these images. Bytes of which few reach least are not taken for 0 to 255.

        Raises ValueError if all values are the same, or too far apart. Warns of outliers, which are clipped.
        """
        low, high = float(X.min()), float(X.max())
        if not isfinite(high - low):
            raise ValueError(
                f"X holds numbers from {low:g} to {high:g}, which are too far apart to be scaled to 0..255: "
                "scale X."
            )
        if low == high:
            raise ValueError(f"X holds nothing but {low:g}: expected images that are not all blank.")
        lows, highs = _extremes(X)
        white = 1 if high <= 1 and X.dtype != np.uint8 else 255
        is_usual = low >= 0 and high <= white and np.quantile(highs, 1 - FEW) >= white * least / 256
        if not is_usual:
            low, high = _without_outliers(X, low, high)
        return cls(
            X.shape[1:],
            None if is_usual and X.dtype == np.uint8 else (low, high),
            (float(np.quantile(lows, 1 - FEW)), float(lows.max())),
            (float(np.quantile(highs, FEW)), float(highs.min())),
        )

    def images(self, X: np.ndarray) -> np.ndarray:
        """uint8 images (n, H, W, 3) of checked ones, (n, H, W) or (n, H, W, 3)."""
        if self.range is None:
            X = as_bytes(X, "the pixels of X")
        else:
            low, high = self.range
            X = ((X.astype(np.float64).clip(low, high) - low) * (255 / (high - low))).round().astype(np.uint8)
        return np.ascontiguousarray(np.repeat(X[..., None], 3, axis=3) if X.ndim == 3 else X)

    def check_scale(self, X: np.ndarray) -> None:
        """Raise ValueError for images on another scale than the training images, or warn if they may be."""
        if self.range is None:
            images = as_bytes(X, "the pixels of X")
            if (why := darkness(images)) and images.max() < self.highest[1]:
                warnings.warn(f"{why}.", stacklevel=4)
            return
        (low, high), (lows, highs) = self.range, _extremes(X)
        width, are_many = high - low, len(lows) >= _MANY
        darkest = np.quantile(lows, FEW, method="lower")  # without the outliers of few images
        lightest = np.quantile(highs, 1 - FEW, method="higher")
        is_sliver = lightest - darkest < _SLIVER * width
        margin = width / (100 if is_sliver else 16)
        is_rare, is_new = (
            darkest > lowest + margin or lightest < highest - margin
            for lowest, highest in zip(self.lowest, self.highest, strict=True)
        )
        is_outside = ((low - width / 4 > X) | (high + width / 4 < X)).mean() > FEW
        is_blank = (lows == highs).all()
        message = (
            f"X holds values from {X.min():g} to {X.max():g}, but this classifier was fitted on values from "
            f"{low:g} to {high:g}: scale X as the training images were."
        )
        if is_outside or (is_new and (is_sliver or are_many) and not is_blank):
            raise ValueError(message)
        if (is_new or (is_rare and are_many)) and not is_blank:
            warnings.warn(message, stacklevel=4)


def _extremes(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest value of each image, but not of blank ones, unless all are blank."""
    rows = X.reshape(len(X), -1)
    lows, highs = rows.min(axis=1).astype(np.float64), rows.max(axis=1).astype(np.float64)
    varied = (lows < highs) | (lows == highs).all()
    return lows[varied], highs[varied]


def _without_outliers(X: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """The range of nearly all values, with a warning, where few others take up most of the range."""
    some = X[:: 1 + X.size // 10_000_000]
    common = np.median(some)  # perhaps a background, beside which all else is rare
    others = np.append(some[some != common], common)
    first, last = np.quantile(others, (FEW, 1 - FEW))
    first, last = min(first, common), max(last, common)
    width = last - first
    if not width or (first - width <= low and high <= last + width):
        return low, high
    inner = max(low, first - width / 2), min(high, last + width / 2)
    warnings.warn(
        f"X holds values from {low:g} to {high:g}, but nearly all are from {first:g} to {last:g}: the others "
        f"are clipped to {inner[0]:g} to {inner[1]:g}. To choose another range, clip X with numpy.clip, or "
        "scale it to uint8 pixels from 0 to 255.",
        stacklevel=5,
    )
    return inner
