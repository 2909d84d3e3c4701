"""A Vision Transformer with the interface of a scikit-learn classifier; scikit-learn is not required.

from tinyvit import ViTClassifier
classifier = ViTClassifier(epochs=20).fit(images, labels)
classifier.score(more_images, their_labels)
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from tinyvit.api import FIT_SETTINGS, Labels, Model, preset
from tinyvit.data.classifier_input import (
    Pixels,
    check_same_kind,
    checked_images,
    checked_labels,
    checked_weights,
    of_scikit_learn,
)
from tinyvit.errors import UserError, printable
from tinyvit.model import is_preset
from tinyvit.optim import usual_learning_rate
from tinyvit.runs.settings import setting_error
from tinyvit.training.fit import check_settings

# The defaults come from a table of trainings (MEASUREMENTS.md, "ViTClassifier"). Few large patches learn
# small pictures from few images sooner and better than many small ones.
_PATCHES = (16, 14, 8, 7, 6, 5, 4, 3, 2, 1)  # the largest that gives enough patches is chosen
_EPOCHS, _FEWEST_STEPS = 10, 1000  # of the default: as many epochs as make both
_SHIFT = 14  # crop_padding is a pixel for each so many, by default


class ViTClassifier:
    """Classifies images with a Vision Transformer that is trained from scratch.

    X is an array of images, (n, H, W, 3) or grey (n, H, W), or of rows of pixels (n, features); or a list of
    photos of one size: paths, bytes, open files, images of Pillow. Rows are
    reshaped to squares if possible (grey, or RGB with channels last), and otherwise to a single line of
    pixels. uint8 pixels are used unchanged; for any other dtype, the range of the training images is scaled
    to 0..255. y holds names of classes, or whole numbers.

    model is the size of a preset (nano, micro, milli, mini, Ti, S, B, L or H); patch_size None chooses one to
    suit the images. Or it is the name of a whole preset, such as B/16 or resnet-nano. epochs is the number of
    passes over the images, None 10 or as many as make 1,000 updates. crop_padding is by how many pixels they
    are shifted at random in training, None one for every 14 of their side, or none with a crop_scale below 1.
    init is that of tinyvit.preset, and whiten whether to call Model.whiten first. lr None is 0.05 for SGD and
    0.002 for the other optimisers. The other settings are those of Model.fit; random_state None draws a
    random seed.

    After fit: classes_ (the sorted labels), model_ (the trained tinyvit.Model), n_features_in_ (the count of
    numbers in an image), losses_ (the mean training loss of each epoch), n_iter_ (passes over the images).
    """

    _estimator_type = "classifier"

    def __init__(
        self,
        model: str = "nano",
        patch_size: int | None = None,
        epochs: int | None = None,
        batch_size: int = 50,
        lr: float | None = None,
        optimizer: str = "adamw",
        weight_decay: float | None = None,
        ema: float = 0.0,
        smoothing: float = 0.0,
        crop_padding: int | None = None,
        crop_scale: float = 1.0,
        flip: bool = False,
        colour_jitter: float = 0.0,
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
        self.crop_scale = crop_scale
        self.flip = flip
        self.colour_jitter = colour_jitter
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
        check_settings(batch_size=self.batch_size, threads=self.threads, whiten=self.whiten)
        if self.epochs is not None:
            check_settings(epochs=self.epochs)
        X, labels = checked_images(X), checked_labels(y)
        if len(X) != len(labels):
            raise ValueError(f"X has {len(X)} images, y has {len(labels)} labels: expected the same number.")
        try:
            classes, codes = np.unique(labels, return_inverse=True)
        except (TypeError, ArithmeticError):  # as is said of objects that have no order
            kinds = ", ".join(sorted({type(label).__name__ for label in labels.tolist()}))
            raise ValueError(
                f"Unknown label type: y holds objects that cannot be sorted, of type {kinds}. Expected "
                "labels of one type, such as text or whole numbers, with none missing."
            ) from None
        if len(classes) < 2:
            raise ValueError("y has only one class: expected at least two to tell apart.")
        pixels = Pixels.of(X)
        images = pixels.images(X)
        height, width = images.shape[1:3]
        steps = -(-len(images) // self.batch_size)
        epochs = self.epochs or max(_EPOCHS, -(-_FEWEST_STEPS // steps))
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
        settings = {name: getattr(self, name) for name in FIT_SETTINGS if hasattr(self, name)}
        settings |= {"epochs": epochs, "seed": seed, "report": lambda epoch, loss: losses.append(loss)}
        if self.crop_padding is None:
            settings["crop_padding"] = min(height, width) // _SHIFT if self.crop_scale == 1 else 0
        if self.lr is None:
            settings["lr"] = usual_learning_rate(self.optimizer, otherwise=2e-3)
        model.fit(images, codes, **settings)
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
            kind = of_scikit_learn("NotFittedError", UserError)
            raise kind(f"this {type(self).__name__} is not fitted yet: call fit(X, y) first.")
        X = checked_images(X)
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

    def score(self, X: np.ndarray, y: Labels, sample_weight: np.ndarray | None = None) -> float:
        """The share of images X whose predicted label is that of y; sample_weight is how much each counts."""
        labels, predicted = checked_labels(y), self.predict(X)
        check_same_kind(labels, self.classes_)
        if labels.shape != predicted.shape:
            raise ValueError(f"X has {len(predicted)} images, y has shape {labels.shape}: expected as many.")
        weights = None if sample_weight is None else checked_weights(sample_weight, len(labels))
        return float(np.average(predicted == labels, weights=weights))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings given to the constructor, by name."""
        return {name: getattr(self, name) for name in _defaults(type(self))}

    def set_params(self, **settings: Any) -> ViTClassifier:
        """Change settings by name; returns the classifier itself. Raises ValueError for an unknown one."""
        for name, value in settings.items():
            if name not in _defaults(type(self)):
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}: expected one of "
                    f"{', '.join(_defaults(type(self)))}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = _defaults(type(self))
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if type(value) is not type(defaults[name]) or value != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """The properties of this estimator, for scikit-learn, which alone calls this."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(two_d_array=True, three_d_array=True),
        )

    def get_metadata_routing(self) -> Any:
        """What `score` takes beside X and y, for scikit-learn, which alone calls this."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=None)
        return request

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
        enough = 2 if min(height, width) < 32 else 4  # patches, at least, along the shorter side
        fitting = (p for p in _PATCHES if height % p == 0 == width % p and min(height, width) // p >= enough)
        return f"{self.model}/{next(fitting, 1)}"

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            if expected := setting_error("seed", int(self.random_state)):
                raise ValueError(f"random_state is {self.random_state}, expected {expected}.")
            return int(self.random_state)
        draw = self.random_state or np.random
        if not hasattr(draw, "randint"):
            raise ValueError(
                f"random_state is {draw!r}, expected a whole number, a numpy.random.RandomState, or None."
            )
        return int(draw.randint(2**31 - 1))


def _defaults(kind: type) -> dict[str, Any]:
    """The settings that the constructor of a class names, with their defaults."""
    _, *settings = inspect.signature(kind.__init__).parameters.values()  # type: ignore[misc]
    return {each.name: each.default for each in settings if each.kind is not each.VAR_KEYWORD}
