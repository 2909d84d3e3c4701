"""The input of ViTClassifier, images, labels and weights: checked, and made into what a model takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import inf, isfinite, isqrt, prod
from numbers import Integral, Number, Real
from typing import Any

import numpy as np

from tinyvit.data.decoding import Source, decode
from tinyvit.data.folder_files import composed
from tinyvit.data.images_given import DARK, FEW, as_bytes, darkness, photos_in, source_of
from tinyvit.data.plan import balancing
from tinyvit.support.errors import UserError

_LEAST_COLOUR = 144  # numbers in the smallest colour picture that rows may hold, 6 x 8
_MANY = 10  # images, which do not lie outside all training images by chance
_SLIVER = 1 / 8  # of the range of the training images


def laid_out(rows: np.ndarray, image_shape: Any = None, channels: str = "last") -> np.ndarray:
    """Rows of pixels (n, F) as images, (n, H, W) or (n, H, W, 3).

    image_shape is (H, W), or the shape of an image with its channels, which come first or last; without them,
    images are grey unless channels is "first". By default,
    rows are grey squares, or single lines of F pixels if F is not a square. Raises ValueError if they may be
    colour images, or if image_shape does not fit them.
    """
    n, F = rows.shape
    if image_shape is None:
        return _squares(rows)
    given = tuple(image_shape) if isinstance(image_shape, list | tuple) else ()
    sizes = given if len(given) in (2, 3) and all(isinstance(size, Integral) for size in given) else (0, 0)
    if len(sizes) == 2:
        sizes = *sizes, 1 if channels == "last" else F // max(1, prod(sizes))
    elif channels == "first" and sizes[0] in (1, 3):
        sizes = *sizes[1:], sizes[0]
    H, W, C = sizes
    if H * W * C != F or C not in (1, 3) or H < 1:
        raise ValueError(
            f"image_shape is {image_shape!r}, but X has rows of {F}: expected (height, width), or "
            "(height, width, 3), or (3, height, width) if channels is 'first'."
        )
    images = np.moveaxis(rows.reshape(n, C, H, W), 1, 3) if channels == "first" else rows.reshape(n, H, W, C)
    return images[..., 0] if C == 1 else images


def _squares(rows: np.ndarray) -> np.ndarray:
    """Rows of pixels as grey squares or single lines; ValueError if they may be colour images."""
    n, F = rows.shape
    side, colour = isqrt(F), isqrt(F // 3)
    if F >= _LEAST_COLOUR and F in (3 * colour**2, (side // 6 * 6) ** 2):
        shapes = f"({colour}, {colour}, 3), perhaps with channels='first' as for the rows of CIFAR"
        if side**2 == F:
            shapes = f"({side}, {side}) if they are grey, or for example ({side // 2}, {side // 3 * 2}, 3)"
        raise ValueError(f"X has rows of {F} numbers, which may be colour images: give image_shape={shapes}.")
    if side**2 == F:
        return rows.reshape(n, side, side)
    if F >= _LEAST_COLOUR:
        warnings.warn(
            f"X has rows of {F} numbers, which are not square images: each is taken for one line of pixels, "
            f"as with image_shape=(1, {F}).",
            stacklevel=5,
        )
    return rows.reshape(n, 1, F)


def checked_images(
    X: Any, read: Callable[[Source], np.ndarray] | None = None, channels: str = "last"
) -> np.ndarray:
    """X as an array of finite real numbers with at least one image, (n, H, W, 3), (n, H, W) or rows (n, F).

    read turns a photo into pixels; without it, photos are decoded, and have to be of one size. channels is
    'first' for images (n, 3, H, W).
    """
    if hasattr(X, "toarray"):
        raise TypeError("X is a sparse matrix, expected a dense array: call X.toarray().")
    if photos := photos_in(X):
        X = np.stack([read(source_of(photo)) for photo in photos]) if read else _decoded(photos)
    try:
        X = np.asarray(sequence := X)
        if X.dtype.kind == "O" and X.ndim:
            X = X.astype(np.float64)
    except TypeError as error:  # scikit-learn wants one too
        raise TypeError(f"X holds an object that is not a number ({error}): expected real numbers.") from None
    except OverflowError:
        raise ValueError("X holds a number that is too large: scale X, or correct it.") from None
    except ValueError:  # as NumPy says of sequences that make no array, and of text
        raise ValueError(
            "X makes no array of numbers: expected one, of images that are all of one size. A column of "
            "arrays becomes one with numpy.stack."
        ) from None
    if X.ndim == 0:
        raise ValueError(
            f"X is one {type(sequence).__name__}, expected an array of images or of rows of pixels: "
            "numpy.stack makes one of several images."
        )
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X contains complex numbers, expected real ones.")
    if X.dtype.kind not in "uifb":
        raise ValueError(f"X has dtype {X.dtype}, expected numbers.")
    if X.ndim == 1:
        raise ValueError("X has one axis, expected images or rows of pixels. Reshape your data.")
    given = X.shape
    if X.ndim == 4 and channels == "first" and not photos:
        X = np.moveaxis(X, 1, 3)
    if X.ndim == 4 and X.shape[3] == 1:
        X = X[..., 0]
    if X.ndim not in (2, 3, 4) or (X.ndim == 4 and X.shape[3] != 3):
        raise ValueError(
            f"X has shape {given}, expected (n, H, W, 3), (n, H, W) or (n, features); or (n, 3, H, W), if "
            "channels is 'first'."
        )
    if len(X) == 0:
        raise ValueError("Found array with 0 sample(s): expected at least one image.")
    if 0 in X.shape:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if not np.isfinite(X).all():
        raise ValueError("X contains NaN or infinity: expected finite numbers.")
    return X


def _decoded(photos: Sequence[Any]) -> np.ndarray:
    """The pixels of photos that are all of one size: (n, H, W, 3)."""
    images = [np.asarray(decode(source_of(photo))[0]) for photo in photos]
    sizes = sorted({image.shape[:2] for image in images})
    if len(sizes) > 1:
        (h, w), (H, W) = sizes[0], sizes[-1]
        raise ValueError(
            f"X holds photos of {h} x {w} and of {H} x {W} pixels: resize them to one size, or train with "
            "python -m tinyvit.train --dataset folder."
        )
    return np.stack(images)


def checked_labels(y: Any) -> np.ndarray:
    """y as a 1-D array of labels."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    # Beside text, NumPy would make text of NaN.
    if isinstance(y, list | tuple) and any(isinstance(label, float) and label != label for label in y):
        raise ValueError("Input y contains NaN: leave out the images without a label.")
    try:
        y = np.asarray(y)
    except ValueError:  # as NumPy says of sequences that make no array
        raise ValueError("y cannot be turned into an array: expected one label for each image.") from None
    if y.ndim == 2 and y.shape[1] == 1:
        category = of_scikit_learn("DataConversionWarning", UserWarning)
        warnings.warn("A column-vector y was passed when a 1d array was expected.", category, stacklevel=3)
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}, expected one label for each image.")
    if y.dtype.kind in "UO" and all(isinstance(label, str) for label in y.tolist()):
        texts = [*map(composed, y.tolist())]
        y = np.array(texts, object if y.dtype.kind == "O" else None)
    measures = y
    if y.dtype.kind != "f":  # of objects that are all real numbers, those whose type has fractions
        labels = y.tolist() if y.dtype.kind == "O" else []
        are_real = all(isinstance(label, Real) for label in labels)
        fractional = [label for label in labels if are_real and not isinstance(label, Integral)]
        measures = np.array(fractional, np.float64)
    if not np.isfinite(y if y.dtype.kind in "mM" else measures).all():
        raise ValueError("Input y contains NaN, NaT or infinity: expected labels.")
    if (measures != np.floor(measures)).any():
        raise ValueError("Unknown label type: continuous. Expected labels of classes, not measurements.")
    return y


def check_same_kind(labels: np.ndarray, classes: np.ndarray) -> None:
    """Raise ValueError if no label can be equal to any class, as text cannot be to a number."""
    given, learned = _items(labels), _items(classes)
    if given and {_kind(label) for label in given}.isdisjoint(map(_kind, learned)):
        raise ValueError(
            f"y holds {given[0]!r}, but this classifier was fitted on labels such as {learned[0]!r}: "
            "expected labels of the same type."
        )


def _items(labels: np.ndarray) -> list[Any]:
    """Labels as Python's own objects; dates remain NumPy's, since some would become whole numbers."""
    return list(labels) if labels.dtype.kind in "mM" else labels.tolist()


def _kind(label: Any) -> type:
    """The kind of a label: only labels of one kind can be equal."""
    return next((kind for kind in (str, bytes, Number) if isinstance(label, kind)), object)


def sorted_classes(labels: np.ndarray) -> np.ndarray:
    """The different labels, sorted."""
    try:
        return np.unique(labels)
    except (TypeError, ArithmeticError):  # as is said of objects that have no order
        kinds = ", ".join(sorted({type(label).__name__ for label in labels.tolist()}))
        raise ValueError(
            f"Unknown label type: y holds objects that cannot be sorted, of type {kinds}. Expected "
            "labels of one type, such as text or whole numbers, with none missing."
        ) from None


def numbered(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The number of each label's class, (n,). Raises ValueError for a label that is not among the classes."""
    check_same_kind(labels, classes)
    codes = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    if (unknown := classes[codes] != labels).any():
        raise ValueError(f"y holds {labels[unknown][0]!r}, expected some of the classes {_items(classes)}.")
    return codes


def weights_of_classes(class_weight: Any, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The weight (n,) of each image by its class: 'balanced', or a dictionary, by default 1."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        return balancing(codes)
    if isinstance(class_weight, Mapping):
        class_weight = {
            composed(label) if isinstance(label, str) else label: weight
            for label, weight in class_weight.items()
        }
    if not isinstance(class_weight, Mapping) or class_weight.keys() - set(_items(classes)):
        raise ValueError(
            f"class_weight is {class_weight!r}, expected 'balanced', or weights by the classes "
            f"{_items(classes)}."
        )
    weights = [class_weight.get(label, 1) for label in _items(classes)]
    fit = all(isinstance(weight, int | float | np.number) and 0 <= weight < inf for weight in weights)
    if not fit or not any(weights):
        raise ValueError(f"class_weight is {class_weight!r}, expected numbers, 0 or more, and not all zero.")
    return np.array(weights, np.float64)[codes]


def checked_weights(sample_weight: Any, count: int) -> np.ndarray:
    """sample_weight as an array (count,), checked."""
    try:
        weights = np.asarray(sample_weight, np.float64)
        fit = weights.shape == (count,) and weights.min() >= 0 and 0 < weights.sum() < inf
    except (TypeError, ValueError, OverflowError):
        fit = False
    if not fit:
        raise UserError(
            f"sample_weight is {sample_weight!r}, expected a number, 0 or more, for each of {count} images, "
            "and not all of them zero."
        )
    return weights


def of_scikit_learn(name: str, otherwise: type[Exception]) -> Any:
    """scikit-learn's own class of that name where it is installed, so that its tools recognise it."""
    try:
        return getattr(import_module("sklearn.exceptions"), name)
    except ImportError:
        return otherwise


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
