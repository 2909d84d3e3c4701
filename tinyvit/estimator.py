"""A Vision Transformer with the interface of a scikit-learn classifier; scikit-learn is not required.

from tinyvit import ViTClassifier
classifier = ViTClassifier(epochs=20).fit(images, labels)
classifier.score(more_images, their_labels)
"""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass, replace
from importlib import import_module
from math import isqrt
from numbers import Integral, Real
from typing import Any

import numpy as np

from tinyvit.errors import UserError, printable
from tinyvit.front import Labels, Model, preset
from tinyvit.model import is_preset
from tinyvit.optim import usual_learning_rate
from tinyvit.runs.settings import what_is_expected
from tinyvit.training.fit import check_settings

_PATCHES = (16, 14, 8, 7, 6, 5, 4, 3, 2, 1)  # the largest that gives at least 7 x 7 patches is chosen
_ENOUGH = 7
_FEWEST_STEPS = 200  # on small data sets, there are more epochs than `epochs` says


class ViTClassifier:
    """Classifies images with a Vision Transformer that is trained from scratch.

    X is an array of images, (n, H, W, 3) or grey (n, H, W), or of rows of pixels (n, features). Rows are
    reshaped to squares if possible (grey, or RGB with channels last), and otherwise to a single line of
    pixels. uint8 pixels are used unchanged; for any other dtype, the range of the training images is scaled
    to 0..255. y holds names of classes, or whole numbers.

    model is the size of a preset (nano, micro, milli, mini, Ti, S, B, L or H); patch_size None chooses one to
    suit the images. Or it is the name of a whole preset, such as B/16 or resnet-nano. epochs is the number of
    passes over the images, which is increased if it would mean fewer than 200 updates. init is that of
    tinyvit.preset, and whiten whether to call Model.whiten first. lr None is 0.05 for SGD and 0.002 for the
    other optimisers. The other settings are those of Model.fit; random_state None draws a random seed.

    After fit: classes_ (the sorted labels), model_ (the trained tinyvit.Model), n_features_in_ (the count of
    numbers in an image), losses_ (the mean training loss of each epoch), n_iter_ (passes over the images).
    """

    _estimator_type = "classifier"

    def __init__(
        self,
        model: str = "nano",
        patch_size: int | None = None,
        epochs: int = 10,
        batch_size: int = 50,
        lr: float | None = None,
        optimizer: str = "adamw",
        weight_decay: float | None = None,
        ema: float = 0.0,
        smoothing: float = 0.0,
        crop_padding: int = 0,
        flip: bool = False,
        augment: str = "none",
        augment_ops: int = 2,
        augment_magnitude: float = 10.0,
        mixup: float = 0.0,
        cutmix: float = 0.0,
        erase: float = 0.0,
        repeats: int = 1,
        init: str = "official",
        whiten: bool = False,
        random_state: int | np.random.RandomState | None = 0,
        threads: int | None = None,
    ):
        self.model = model
        self.patch_size = patch_size
        self.epochs = epochs
        self.batch_size = batch_size
        self.lr = lr
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.ema = ema
        self.smoothing = smoothing
        self.crop_padding = crop_padding
        self.flip = flip
        self.augment = augment
        self.augment_ops = augment_ops
        self.augment_magnitude = augment_magnitude
        self.mixup = mixup
        self.cutmix = cutmix
        self.erase = erase
        self.repeats = repeats
        self.init = init
        self.whiten = whiten
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: np.ndarray, y: Labels) -> ViTClassifier:
        """Train from scratch on images X and labels y, (n,); returns the classifier itself."""
        check_settings(
            batch_size=self.batch_size, epochs=self.epochs, threads=self.threads, whiten=self.whiten
        )
        X, labels = _numbers(X), _labels(y)
        if len(X) != len(labels):
            raise ValueError(f"X has {len(X)} images, y has {len(labels)} labels: expected the same number.")
        try:
            classes, codes = np.unique(labels, return_inverse=True)
        except TypeError:  # as NumPy says of objects that have no order
            kinds = ", ".join(sorted({type(label).__name__ for label in labels.tolist()}))
            raise ValueError(
                f"Unknown label type: y holds objects that cannot be sorted, of type {kinds}. Expected "
                "labels of one type, such as text or whole numbers, with none missing."
            ) from None
        if len(classes) < 2:
            raise ValueError("y has only one class: expected at least two to tell apart.")
        pixels = _Pixels.of(X)
        images = pixels.images(X)
        height, width = images.shape[1:3]
        steps = -(-len(images) // self.batch_size)
        epochs = max(self.epochs, -(-_FEWEST_STEPS // steps))
        losses: list[float] = []
        seed = self._seed()
        names = [printable(str(label)) for label in classes]
        model = preset(
            self._model_name(height, width),
            (height, width),
            names if all(names) and len(set(names)) == len(names) else len(names),
            seed=seed,
            init=self.init,
            threads=self.threads,
        )
        if self.whiten:
            model.whiten(images, seed=seed)
        model.fit(
            images,
            codes,
            epochs=epochs,
            batch_size=self.batch_size,
            lr=usual_learning_rate(self.optimizer, otherwise=2e-3) if self.lr is None else self.lr,
            optimizer=self.optimizer,
            weight_decay=self.weight_decay,
            ema=self.ema,
            smoothing=self.smoothing,
            crop_padding=self.crop_padding,
            flip=self.flip,
            augment=self.augment,
            augment_ops=self.augment_ops,
            augment_magnitude=self.augment_magnitude,
            mixup=self.mixup,
            cutmix=self.cutmix,
            erase=self.erase,
            repeats=self.repeats,
            seed=seed,
            report=lambda epoch, loss: losses.append(loss),
        )
        self.model_: Model = model  # only now, as all below: a fit that fails changes nothing
        self.classes_, self._pixels = classes, pixels
        self.n_features_in_ = int(np.prod(X.shape[1:]))
        self.n_iter_, self.losses_ = epochs, losses
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The most likely label of each image: (n,), with the dtype of y."""
        scores = self.predict_proba(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """The probability of each label in classes_: (n, classes), float64; each row sums to 1.

        Computed in float64, so that the other images in X change at most the last digits of a result. In
        float32, the order of summation changes the sixth digit.
        """
        if not hasattr(self, "model_"):
            kind = _of_scikit_learn("NotFittedError", UserError)
            raise kind(f"this {type(self).__name__} is not fitted yet: call fit(X, y) first.")
        X = _numbers(X)
        if int(np.prod(X.shape[1:])) != self.n_features_in_:
            raise ValueError(
                f"X has {int(np.prod(X.shape[1:]))} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        if X.ndim > 2 and X.shape[1:3] != self.model_.config.image_size:
            raise ValueError(
                f"X has images of {X.shape[1]} x {X.shape[2]}, but this classifier was fitted on images of "
                f"{' x '.join(map(str, self.model_.config.image_size))}: expected the same height and width."
            )
        exact = replace(self.model_, params=self.model_.params.astype("float64"))
        return exact.probabilities(self._pixels.images(X.reshape(-1, *self._pixels.shape)))

    def score(self, X: np.ndarray, y: Labels) -> float:
        """The share of images X whose predicted label is that of y."""
        labels, predicted = _labels(y), self.predict(X)
        kinds = [{isinstance(label, str) for label in some.tolist()} for some in (labels, self.classes_)]
        if len(labels) and kinds[0].isdisjoint(kinds[1]):
            raise ValueError(
                f"y holds {labels.tolist()[0]!r}, but this classifier was fitted on labels such as "
                f"{self.classes_.tolist()[0]!r}: expected labels of the same type."
            )
        if labels.shape != predicted.shape:
            raise ValueError(f"X has {len(predicted)} images, y has shape {labels.shape}: expected as many.")
        return float((predicted == labels).mean())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings given to the constructor, by name."""
        return {name: getattr(self, name) for name in _setting_names()}

    def set_params(self, **settings: Any) -> ViTClassifier:
        """Change settings by name; returns the classifier itself. Raises ValueError for an unknown one."""
        for name, value in settings.items():
            if name not in _setting_names():
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}: expected one of "
                    f"{', '.join(_setting_names())}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = ViTClassifier().get_params()
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if type(value) is not type(defaults[name]) or value != defaults[name]
        ]
        return f"ViTClassifier({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """The properties of this estimator, for scikit-learn, which alone calls this."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(two_d_array=True, three_d_array=True),
        )

    def _model_name(self, height: int, width: int) -> str:
        """The name of the preset for images of this size."""
        if is_preset(self.model):
            if self.patch_size is not None:
                raise ValueError(f"{self.model} is the name of a whole model: omit patch_size.")
            return self.model
        if (side := self.patch_size) is not None:
            if not isinstance(side, Integral) or side < 1 or height % side or width % side:
                raise ValueError(
                    f"patch_size is {side!r}, expected a whole number that divides both sides of images of "
                    f"{height} x {width} pixels, or None."
                )
            return f"{self.model}/{side}"
        patch = next(
            p
            for p in _PATCHES
            if height % p == 0 and width % p == 0 and (p == 1 or height // p >= _ENOUGH <= width // p)
        )
        return f"{self.model}/{patch}"

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            if expected := what_is_expected("seed", int(self.random_state)):
                raise ValueError(f"random_state is {self.random_state}, expected {expected}.")
            return int(self.random_state)
        draw = self.random_state or np.random
        if not hasattr(draw, "randint"):
            raise ValueError(
                f"random_state is {draw!r}, expected a whole number, a numpy.random.RandomState, or None."
            )
        return int(draw.randint(2**31 - 1))


@dataclass(frozen=True)
class _Pixels:
    """What training images were like: the shape of one, the range of its pixels (None: bytes), fractions."""

    shape: tuple[int, ...]
    range: tuple[float, float] | None
    fractions: bool

    @classmethod
    def of(cls, X: np.ndarray) -> _Pixels:
        """Those of these images."""
        scale = None if X.dtype == np.uint8 else (float(X.min()), float(X.max()))
        return cls(X.shape[1:], scale, _has_fractions(X))

    def images(self, X: np.ndarray) -> np.ndarray:
        """uint8 images (n, H, W, 3) of whatever X is."""
        if self.range is None and X.dtype != np.uint8:
            if X.min() < 0 or X.max() > 255 or _has_fractions(X):
                raise ValueError(
                    f"X is {X.dtype}, but this classifier was fitted on uint8 pixels: expected whole numbers "
                    "from 0 to 255."
                )
            X = X.astype(np.uint8)
        if self.range is not None:
            low, high = self.range
            if self.fractions and 0 <= low <= high <= 1 < X.max() and not _has_fractions(X):
                raise ValueError(
                    f"X holds whole numbers from {X.min()} to {X.max()}, but this classifier was fitted on "
                    f"values from {low:g} to {high:g}: scale X as the training images were."
                )
            scaled = (X.astype(np.float64) - low) * (255 / max(high - low, 1e-300))
            X = scaled.round().clip(0, 255).astype(np.uint8)
        if X.ndim == 2:
            X = _laid_out(X)
        if X.ndim == 3:
            X = np.repeat(X[..., None], 3, axis=3)
        return np.ascontiguousarray(X)


def _has_fractions(X: np.ndarray) -> bool:
    """Whether some numbers are not whole."""
    return X.dtype.kind == "f" and bool((X.round() != X).any())


def _laid_out(rows: np.ndarray) -> np.ndarray:
    """Rows of pixels (n, F) as grey (n, s, s) or RGB (n, s, s, 3) squares, or as single lines (n, 1, F)."""
    n, F = rows.shape
    if isqrt(F) ** 2 == F:
        return rows.reshape(n, isqrt(F), isqrt(F))
    if F % 3 == 0 and isqrt(F // 3) ** 2 * 3 == F and F > 3:
        return rows.reshape(n, isqrt(F // 3), isqrt(F // 3), 3)
    return rows.reshape(n, 1, F)


def _numbers(X: Any) -> np.ndarray:
    """X as an array of finite real numbers with at least one image."""
    if hasattr(X, "toarray"):
        raise TypeError("X is a sparse matrix, expected a dense array: call X.toarray().")
    try:
        X = np.asarray(given := X)
        if X.dtype.kind == "O" and X.ndim:
            X = X.astype(np.float64)
    except ValueError:  # as NumPy says of sequences that make no array, and of text
        raise ValueError(
            "X makes no array of numbers: expected one, of images that are all of one size. A column of "
            "arrays becomes one with numpy.stack."
        ) from None
    if X.ndim == 0:
        raise ValueError(
            f"X is one {type(given).__name__}, expected an array of images or of rows of pixels: numpy.stack "
            "makes one of several images."
        )
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X contains complex numbers, expected real ones.")
    if X.dtype.kind not in "uifb":
        raise ValueError(f"X has dtype {X.dtype}, expected numbers.")
    if X.ndim == 1:
        raise ValueError("X has one axis, expected images or rows of pixels. Reshape your data.")
    if X.ndim not in (2, 3, 4) or (X.ndim == 4 and X.shape[3] != 3):
        raise ValueError(f"X has shape {X.shape}, expected (n, H, W, 3), (n, H, W) or (n, features).")
    if len(X) == 0:
        raise ValueError("Found array with 0 sample(s): expected at least one image.")
    if 0 in X.shape:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if not np.isfinite(X).all():
        raise ValueError("X contains NaN or infinity: expected finite numbers.")
    return X


def _labels(y: Any) -> np.ndarray:
    """y as a 1-D array of labels."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        category = _of_scikit_learn("DataConversionWarning", UserWarning)
        warnings.warn("A column-vector y was passed when a 1d array was expected.", category, stacklevel=3)
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}, expected one label for each image.")
    measures = y if y.dtype.kind == "f" else _fractional(y)
    if not np.isfinite(measures).all():
        raise ValueError("Input y contains NaN or infinity: expected labels.")
    if (measures != np.floor(measures)).any():
        raise ValueError("Unknown label type: continuous. Expected labels of classes, not measurements.")
    return y


def _fractional(y: np.ndarray) -> np.ndarray:
    """The labels whose type is not one of whole numbers, in an array of objects that are all real numbers."""
    labels = y.tolist() if y.dtype.kind == "O" else []
    numbers = all(isinstance(label, Real) for label in labels)
    return np.array([label for label in labels if numbers and not isinstance(label, Integral)], np.float64)


def _of_scikit_learn(name: str, otherwise: type[Exception]) -> Any:
    """scikit-learn's own class of that name where it is installed, so that its tools recognise it."""
    try:
        return getattr(import_module("sklearn.exceptions"), name)
    except ImportError:
        return otherwise


def _setting_names() -> list[str]:
    return [name for name in inspect.signature(ViTClassifier.__init__).parameters if name != "self"]
