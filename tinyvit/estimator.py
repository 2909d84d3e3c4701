"""A Vision Transformer with the interface of a scikit-learn classifier; scikit-learn is not required.

from tinyvit import ViTClassifier
classifier = ViTClassifier(epochs=20).fit(images, labels)
classifier.score(more_images, their_labels)
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tinyvit.api import Model, load, preset
from tinyvit.data.classifier_input import (
    Pixels,
    check_same_kind,
    checked_images,
    checked_labels,
    checked_weights,
    laid_out,
    numbered,
    of_scikit_learn,
    sorted_classes,
    weights_of_classes,
)
from tinyvit.data.dataset import chosen_to_hold_out
from tinyvit.data.images_given import DARK, Scaled
from tinyvit.data.plan import Change
from tinyvit.insight.looking import ArrayLike, Labels, Photo
from tinyvit.model import is_preset
from tinyvit.optim import usual_learning_rate
from tinyvit.support.errors import UserError, did_you_mean, printable
from tinyvit.training.recipes import FINE_TUNING, FINE_TUNING_STEPS, FINE_TUNING_WITH
from tinyvit.training.settings import FitSettings, Settings, check_settings, table

Given = ArrayLike | Sequence[Photo]  # as images

# The defaults come from a table of trainings (MEASUREMENTS.md, "ViTClassifier"). Few large patches learn
# small pictures from few images sooner and better than many small ones.
_PATCHES = (16, 14, 8, 7, 6, 5, 4, 3, 2)  # the largest that gives enough patches is chosen, otherwise 1
_EPOCHS, _FEWEST_STEPS = 10, 1000  # of the default: as many epochs as make both
_SHIFT = 14  # crop_padding is a pixel for each 14 of a side, by default


@dataclass(eq=False, repr=False)
class ViTClassifier:
    """Classifies images with a Vision Transformer that is trained from scratch, or from given weights.

    X is an array of images, (n, H, W, 3) or grey (n, H, W), or of rows of pixels (n, features); or a list of
    photos of one size: paths, bytes, open files, images of Pillow. uint8 pixels are used unchanged. For any
    other dtype, and for bytes that are all dark, the range of the training images is scaled to 0..255; a few
    values far outside are clipped, with a warning. Images to predict must be on the scale of the training
    images. y holds names of classes, or whole numbers.

    image_shape is the shape of the image in a row: (H, W), (H, W, 3) or, with channels "first", (3, H, W).
    Without it, rows are grey squares, or single lines of pixels if they are not squares; rows that may be
    colour images need it. channels "first" is for planes of colours, as in CIFAR's rows or (n, 3, H, W).

    model is the size of a preset (nano, micro, milli, mini, Ti, S, B, L or H); patch_size None chooses one to
    suit the images. Or it is the name of a whole preset, such as B/16 or resnet-nano. epochs is the number of
    passes over the images, None 10 or as many as make 1,000 updates. crop_padding is by how many pixels they
    are shifted at random in training, None one for every 14 of their side, or none with a crop_scale below 1.
    init is that of tinyvit.preset, and whiten whether to call Model.whiten first. optimizer None is adamw; lr
    None is 0.05 for SGD and 0.002 for the other optimisers. The other settings are those of Model.fit;
    random_state None draws a random seed.

    weights is a run folder, a file or a known name, as for tinyvit.load: its model with a new head of zeros
    is trained, in place of one from scratch. Images are then fitted as its photos are, unless they have the
    size of its own, and a list of photos may be of many sizes. The usual settings are those of
    tinyvit.finetune: SGD (adamw with lora) and lr 0.01 (0.001 for the other optimisers), no weight decay, 5
    epochs or as many as make 500 updates, no shifts. freeze, layer_decay, lora and lora_alpha say what of it
    learns (see Settings).

    class_weight is how often images of each class come in training, relative to the others: a dictionary by
    label, 1 for those that it leaves out, or "balanced" for each class as often as the others. With
    early_stopping, the share validation_fraction of the images is held out, training ends when
    n_iter_no_change passes in a row were no better on them than the best, and the model is that of the best.
    With warm_start, fit continues from the present model, whose classes and size of images stay.
    verbose is whether to show the progress of training.

    After fit: classes_ (the sorted labels), model_ (the trained tinyvit.Model), n_features_in_ (the count of
    numbers in an image), losses_ (the mean training loss of each epoch), n_iter_ (passes over the images),
    validation_scores_ (the accuracy after each on the images held out, or None).
    """

    model: str = "nano"
    patch_size: int | None = None
    epochs: int | None = None
    batch_size: int = 50
    lr: float | None = None
    optimizer: str | None = None
    weight_decay: float | None = None
    ema: float = Settings.ema
    smoothing: float = Settings.smoothing
    crop_padding: int | None = None
    crop_scale: float = Settings.crop_scale
    flip: bool = Settings.flip
    colour_jitter: float = Settings.colour_jitter
    augment: str | Change = Settings.augment
    augment_ops: int = Settings.augment_ops
    augment_magnitude: float = Settings.augment_magnitude
    mixup: float = Settings.mixup
    cutmix: float = Settings.cutmix
    erase: float = Settings.erase
    repeats: int = Settings.repeats
    init: str = Settings.init
    whiten: bool = Settings.whiten
    weights: str | Path | None = None
    freeze: str | None = None
    layer_decay: float = Settings.layer_decay
    lora: int | None = None
    lora_alpha: float | None = None
    class_weight: dict[Any, float] | str | None = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 10
    warm_start: bool = False
    random_state: int | np.random.RandomState | None = 0
    threads: int | None = None
    image_shape: tuple[int, ...] | None = None
    channels: str = "last"
    verbose: bool = False

    _estimator_type = "classifier"
    model_: Model = field(init=False)
    classes_: np.ndarray = field(init=False)
    losses_: list[float] = field(init=False)
    n_iter_: int = field(init=False)
    validation_scores_: list[float] | None = field(init=False)
    n_features_in_: int = field(init=False)
    _pixels: Pixels = field(init=False)  # what the images of the first fit were like
    _size: tuple[int, int] = field(init=False)  # theirs, before they were fitted to the model
    _fits_photos: bool = field(init=False)  # whether the model is one of weights
    _calls: int = field(init=False)  # to go on, since the first fit
    _split: int = field(init=False)  # the seed by which all these calls hold out images

    def fit(self, X: Given, y: Labels, sample_weight: np.ndarray | None = None) -> ViTClassifier:
        """Train on images X and labels y, (n,); returns the classifier itself.

        An image comes in training as often as its sample_weight, (n,), says, relative to the others.
        """
        return self._learn(X, y, sample_weight, goes_on=self.warm_start and hasattr(self, "model_"))

    def partial_fit(
        self,
        X: Given,
        y: Labels,
        classes: np.ndarray | None = None,
        sample_weight: np.ndarray | None = None,
    ) -> ViTClassifier:
        """Train on images X and labels y for one pass; returns the classifier itself.

        classes are all labels that may ever come, and have to be given in the first call, whose range of
        pixels holds for all. The learning rate stays the same. Each call begins with a new optimiser. Its
        batches are of one size, batch_size at most.
        """
        goes_on = hasattr(self, "model_")
        if classes is None and not goes_on:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight is {self.class_weight!r}, but partial_fit does not see all images: expected a "
                "dictionary."
            )
        return self._learn(X, y, sample_weight, goes_on, classes, one_pass=True)

    def _learn(
        self,
        X: Given,
        y: Labels,
        sample_weight: np.ndarray | None,
        goes_on: bool,
        classes: np.ndarray | None = None,
        one_pass: bool = False,
    ) -> ViTClassifier:
        """Train, from the model that there is if goes_on says so."""
        self._check_settings()
        start = self.model_ if goes_on else None
        if self.weights is not None and not goes_on:
            start = load(self.weights, threads=self.threads)
        fits_photos = self._fits_photos if goes_on else start is not None
        X = checked_images(X, start._photo if start and fits_photos else None, self.channels)
        labels = checked_labels(y)
        if goes_on:
            known = self.classes_
        else:
            known = sorted_classes(labels if classes is None else checked_labels(classes))
        X, labels, weights = _that_count(X, labels, sample_weight)
        if classes is not None and not np.array_equal(sorted_classes(checked_labels(classes)), known):
            raise ValueError(f"classes is {classes!r}, but the model has {known.tolist()}.")
        if len(known) < 2 or (classes is None and not goes_on and len(np.unique(labels)) < 2):
            raise ValueError("y has only one class: expected at least two to tell apart.")
        codes = numbered(labels, known)
        if goes_on:
            pixels, images = self._pixels, self._images(X)
        else:
            X = laid_out(X, self.image_shape, self.channels) if X.ndim == 2 else X
            pixels = Pixels.of(X, DARK // 2 if one_pass else DARK)
            images = pixels.images(X)
        size, calls = images.shape[1:3], self._calls + 1 if goes_on else 0
        seed = (self._seed() + calls) % 2**64  # each call makes other random choices
        split = getattr(self, "_split", seed) if goes_on else seed  # an older pickle has none
        model = copy.deepcopy(self.model_) if goes_on else self._new_model(start, images, known, seed)
        model.threads = self.threads
        images = _as_seen(model, images)
        settings: dict[str, Any] = {"seed": seed, "progress": bool(self.verbose)}
        if self.early_stopping and not one_pass:
            count = max(1, round(self.validation_fraction * len(codes)))
            held_out = chosen_to_hold_out(codes, known.tolist(), count, split)
            settings["validation"] = images[held_out], codes[held_out]
            settings["patience"] = self.n_iter_no_change
            images, codes, weights = images[~held_out], codes[~held_out], weights[~held_out]
        if self.class_weight is not None:
            weights = weights * weights_of_classes(self.class_weight, known, codes)
        if (weights != weights[0]).any():
            settings["sample_weight"] = weights
        settings |= self._fit_settings(len(images), size, fine_tuning=fits_photos)
        if one_pass:
            batches = -(-len(codes) // self.batch_size)  # of one size, so that hardly an image is left over
            settings |= {"epochs": 1, "warmup_epochs": 0, "decay": "constant"}
            least = min(settings.get("repeats", 1), self.batch_size)
            settings["batch_size"] = max(len(codes) // batches, least)
        model.fit(images, codes, **settings)
        scores = [epoch["validation_accuracy"] for epoch in model.history if "validation_accuracy" in epoch]
        self.losses_ = self.losses_ if goes_on and one_pass else []
        self.losses_ = [*self.losses_, *(epoch["loss"] for epoch in model.history)]
        self.n_iter_, self.validation_scores_ = len(self.losses_), scores or None
        self.model_ = model  # only now, as all here: a fit that fails changes nothing
        self.classes_, self._pixels, self._size = known, pixels, size
        self._fits_photos, self._calls, self._split = fits_photos, calls, split
        self.n_features_in_ = int(np.prod(X.shape[1:]))
        return self

    def predict(self, X: Given) -> np.ndarray:
        """The most likely label of each image: (n,), with the dtype of y."""
        scores = self.predict_proba(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Given) -> np.ndarray:
        """The probability of each label in classes_: (n, classes), float64; each row sums to 1.

        Computed in float64, so that the other images in X change at most the last digits of a result. In
        float32, the order of summation changes the sixth digit.
        """
        if not hasattr(self, "model_"):
            kind = of_scikit_learn("NotFittedError", UserError)
            raise kind(f"this {type(self).__name__} is not fitted yet: call fit(X, y) first.")
        X = checked_images(X, self.model_._photo if self._fits_photos else None, self.channels)
        exact = replace(self.model_, params=self.model_.params.astype("float64"))
        return exact.probabilities(_as_seen(exact, self._images(X)))

    def score(self, X: Given, y: Labels, sample_weight: np.ndarray | None = None) -> float:
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
                    f"Invalid parameter {name!r}{did_you_mean(name, _defaults(type(self)))} for estimator "
                    f"{self}: expected one of {', '.join(_defaults(type(self)))}."
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

    def _repr_html_(self) -> str | None:
        """The diagram that scikit-learn draws of its estimators in a notebook; None if it is not imported."""
        if "sklearn" not in sys.modules:  # importing it takes longer than all of tinyvit
            return None
        from sklearn.utils import estimator_html_repr

        return estimator_html_repr(self)

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
        """The arguments of methods beside X and y, for scikit-learn, which alone calls this."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        for method in (request.score, request.fit, request.partial_fit):
            method.add_request(param="sample_weight", alias=None)
        request.partial_fit.add_request(param="classes", alias=None)
        return request

    def _check_settings(self) -> None:
        """Raise UserError for a setting that cannot be, of those that Model.fit is not given as they are."""
        check_settings(batch_size=self.batch_size, threads=self.threads, whiten=self.whiten)
        if self.epochs is not None:
            check_settings(epochs=self.epochs)
        if self.n_iter_no_change is None or table()["patience"].error(self.n_iter_no_change):
            raise UserError(
                f"n_iter_no_change is {self.n_iter_no_change!r}, expected a whole number of at least 1."
            )
        if not (isinstance(self.validation_fraction, Real) and 0 < self.validation_fraction < 1):
            raise UserError(
                f"validation_fraction is {self.validation_fraction!r}, expected a number above 0 and below 1."
            )
        if self.channels not in ("first", "last"):
            raise UserError(f"channels is {self.channels!r}, expected 'first' or 'last'.")
        usual = _defaults(ViTClassifier)
        chosen = [
            name for name in ("model", "patch_size", "init", "whiten") if getattr(self, name) != usual[name]
        ]
        if self.weights is not None and chosen:
            raise UserError(f"weights are of a model that has been trained: omit {chosen[0]}, or weights.")

    def _images(self, X: np.ndarray) -> np.ndarray:
        """uint8 images (n, H, W, 3) of checked ones, which have to be as those that were learned from."""
        if int(np.prod(X.shape[1:])) != self.n_features_in_:
            is_one = X.size == self.n_features_in_
            raise ValueError(
                f"X has {int(np.prod(X.shape[1:]))} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input{': give one image as X[None]' if is_one else ''}"
            )
        shape = self._pixels.shape
        if X.ndim == 2 and len(shape) == 3 and self.image_shape is None:
            raise ValueError(
                "X has rows of pixels, but this classifier was fitted on colour images: expected images, or "
                f"image_shape={shape}."
            )
        if X.ndim == 2:
            X = laid_out(X, self.image_shape or shape, self.channels)
        if X.shape[1:3] != self._size:
            raise ValueError(
                f"X has images of {X.shape[1]} x {X.shape[2]}, but this classifier was fitted on images of "
                f"{' x '.join(map(str, self._size))}: expected the same height and width."
            )
        self._pixels.check_scale(X)
        return self._pixels.images(X)

    def _new_model(self, start: Model | None, images: np.ndarray, classes: np.ndarray, seed: int) -> Model:
        """A model for these images and classes, new or with the weights of start."""
        names = [printable(str(label)) for label in classes]
        heads = names if all(names) and len(set(names)) == len(names) else len(names)
        if start is not None:
            return start.with_new_head(heads)
        name, size = self._model_name(*images.shape[1:3]), images.shape[1:3]
        model = preset(name, size, heads, seed=seed, init=self.init)
        return model.whiten(images, seed=seed) if self.whiten else model

    def _fit_settings(self, count: int, size: tuple[int, int], fine_tuning: bool) -> dict[str, Any]:
        """The settings of Model.fit, with the usual ones for this many images where they are None."""
        optimizer = self.optimizer or ("sgd" if fine_tuning and self.lora is None else "adamw")
        if fine_tuning:
            tuned, fewest, shift = FINE_TUNING | FINE_TUNING_WITH.get(optimizer, {}), FINE_TUNING_STEPS, 0
            usual = {name: tuned[name] for name in ("epochs", "lr", "weight_decay")}
        else:
            fewest, shift = _FEWEST_STEPS, min(size) // _SHIFT if self.crop_scale == 1 else 0
            usual = {"epochs": _EPOCHS, "lr": usual_learning_rate(optimizer, otherwise=2e-3)}
        epochs = max(usual["epochs"], -(-fewest // max(1, count // self.batch_size)))
        usual |= {"optimizer": optimizer, "epochs": epochs, "crop_padding": shift}
        own = {name: getattr(self, name, None) for name in FitSettings.__annotations__}
        return usual | {name: value for name, value in own.items() if value is not None}

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
            if expected := table()["seed"].error(int(self.random_state)):
                raise ValueError(f"random_state is {self.random_state}, expected {expected}.")
            return int(self.random_state)
        draw = self.random_state or np.random
        if not hasattr(draw, "randint"):
            raise ValueError(
                f"random_state is {draw!r}, expected a whole number, a numpy.random.RandomState, or None."
            )
        return int(draw.randint(2**31 - 1))


def _that_count(
    X: np.ndarray, labels: np.ndarray, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Those of the images and labels that have a weight above 0, and these weights."""
    if len(X) != len(labels):
        raise ValueError(f"X has {len(X)} images, y has {len(labels)} labels: expected the same number.")
    weights = np.ones(len(X)) if sample_weight is None else checked_weights(sample_weight, len(X))
    return X[weights > 0], labels[weights > 0], weights[weights > 0]


def _as_seen(model: Model, images: np.ndarray) -> np.ndarray:
    """Images (n, H, W, 3) in the size of the model's: those of another size are fitted as its photos are."""
    if images.shape[1:3] != model.config.image_size:
        images = np.stack([model._photo(Image.fromarray(image)) for image in images])
    return images.view(Scaled)


def _defaults(kind: type) -> dict[str, Any]:
    """The settings that the constructor of a class names, with their defaults."""
    _, *settings = inspect.signature(kind.__init__).parameters.values()  # type: ignore[misc]
    return {each.name: each.default for each in settings if each.kind is not each.VAR_KEYWORD}
