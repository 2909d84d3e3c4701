"""The public interface of the library, which the commands use too.

model = tinyvit.load("runs/shapes-1")
model.predict("photo.jpg")
"""

from __future__ import annotations

import os
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tinyvit import model as core
from tinyvit.backend import Device, array_module, select_device
from tinyvit.data import ImageSet
from tinyvit.data.decoding import Source
from tinyvit.data.images_given import pixels_of
from tinyvit.data.photos import read_photo
from tinyvit.engine import ReferenceEngine, check_finite, in_batches, make_engine
from tinyvit.insight.looking import Images, Labels, Looking
from tinyvit.ops import softmax
from tinyvit.support.errors import UserError, class_name, did_you_mean, nearest, printable
from tinyvit.support.figures import counted
from tinyvit.support.files.download import Report
from tinyvit.training.loading import load_any, why_no_classes
from tinyvit.training.settings import FitSettings, check_settings
from tinyvit.weights.resize import at_resolution

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tinyvit.support.shell.progress import Progress
    from tinyvit.training.evaluation import Evaluation
    from tinyvit.weights.words import Words

# Methods import what a prediction does not need: pages, texts, training, and what saves a model.

DEFAULT_TEMPLATES = ("a photo of a {}.",)

_HISTORY = ("epoch", "loss", "validation_loss", "validation_accuracy")


class Text(str):
    """A text that Python and notebooks show as it is printed."""

    __slots__ = ()
    __repr__ = str.__str__


class Names(np.ndarray):
    """Names of classes. Comparing them with numbers, which never equal a name, raises a UserError."""

    __pandas_priority__ = 5000  # pandas leaves its comparisons to this class too

    def __eq__(self, other: Any) -> Any:
        _check_not_numbers(other)
        return np.asarray(self) == other

    def __ne__(self, other: Any) -> Any:
        _check_not_numbers(other)
        return np.asarray(self) != other


def _check_not_numbers(labels: Any) -> None:
    if any(isinstance(label, Number) for label in np.asarray(labels).ravel()[:1].tolist()):
        raise UserError(
            "the answers are names of classes, which never equal numbers: use model.score(images, labels), "
            "or compare them with numpy.array(model.names)[labels]."
        )


@dataclass(eq=False, repr=False)
class Model(Looking):
    """A Vision Transformer, a hybrid or a ResNet, for inference, training and saving.

    config is its shape and arithmetic (a ViTConfig), params its parameters by name, classes the names of its
    classes in the order of the logits. position_resize is how the library that the model comes from resizes
    position embeddings, and photo_fit how the model expects its photos (None: scaled to cover its images, the
    centre cut out). threads is the number of CPU threads to use, None for all cores. history is what the last
    call of fit measured. The methods that look inside it are those of Looking.

    Images may be given as pixels of any size, (n, H, W, 3), grey (n, H, W), or (H, W, 3) for one image, which
    are whole numbers from 0 to 255 or fractions from 0 to 1, with a warning if all are dark; as a photo or a
    list of photos: paths, bytes, open files, images of Pillow; or as an ImageSet, whose labels hold where no
    others are given. tinyvit normalises and resizes them itself: a photo is fitted as photo_fit says, while
    pixels are resized to the model's shape as they are, so that an image which is not of that shape gives
    another answer as pixels than as a photo. Unless a method says otherwise, it returns a NumPy array with a
    row for each image. Other images raise a UserError.
    """

    threads: int | None = None
    history: list[dict[str, float]] = field(default_factory=list, init=False)

    _engine: tuple[Any, ReferenceEngine] | None = field(default=None, init=False)  # and what it was made for
    # the classes that were asked for in words, the side of texts, and the vectors of these classes
    _words: tuple[Any, Words, np.ndarray] | None = field(default=None, init=False)

    if not TYPE_CHECKING:  # or a type checker would take any name at all for one of these

        def __getattr__(self, name: str) -> Any:
            hint = "" if name.startswith("_") else did_you_mean(name, dir(self))
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def predict(self, images: Images) -> np.ndarray:
        """The name of the most likely class of each image: (n,)."""
        return np.array(self.names).view(Names)[self._scores(images).argmax(axis=1)]

    def score(self, images: Images, labels: Labels | None = None) -> float:
        """The share of images whose most likely class is that of their label, a name or a number from 0."""
        pixels, numbers = self._pixels_and_numbers(images, labels)
        return float((self._scores(pixels).argmax(axis=1) == numbers).mean())

    def evaluate(self, images: Images, labels: Labels | None = None) -> Evaluation:
        """Evaluate the model on labelled images: loss, accuracy, by_class, counts and probabilities.

        by_class has precision, recall and f1, (C,) each; counts (C, C) is how many images of each class (row)
        were taken for each class (column).
        """
        from tinyvit.training.evaluation import evaluation_of

        pixels, numbers = self._pixels_and_numbers(images, labels)
        return evaluation_of(self._scores(pixels), numbers)

    def top(self, images: Images, k: int = 5) -> list[list[tuple[str, float]]]:
        """The k most likely classes of each image and their probabilities, most likely first."""
        if not isinstance(k, int | np.integer) or k < 1:
            raise UserError(f"k is {k!r}, expected a whole number, 1 or more.")
        names, probabilities = self.names, self.probabilities(images)
        best = np.argsort(-probabilities, axis=1, kind="stable")[:, :k]
        return [
            [(names[c], float(row[c])) for c in chosen]
            for row, chosen in zip(probabilities, best, strict=True)
        ]

    def summary(self) -> Text:
        """The model's shape, cost and parameters, layer by layer."""
        from tinyvit.insight.summary import summary

        return Text(summary(self.config, repr(self)))

    def probabilities(self, images: Images) -> np.ndarray:
        """The probability of each class: (n, C); each row sums to 1."""
        return softmax(self._scores(images))[0]

    def logits(self, images: Images) -> np.ndarray:
        """Unnormalised scores of each class: (n, C); (n, T, C) if the model predicts its T patches."""
        return in_batches(self.engine().logits, self.config, self.params, self._pixels(images))

    def features(self, images: Images) -> np.ndarray:
        """Features, the input of the head: (n, D), where D is the width of the model or of its pre_logits."""
        return in_batches(self.engine().features, self.config, self.params, self._pixels(images))

    def zero_shot(
        self,
        images: Images,
        classes: Iterable[str],
        templates: Iterable[str] = DEFAULT_TEMPLATES,
    ) -> np.ndarray:
        """Probabilities of texts for images, (n, C), of a model for images and texts (CLIP, SigLIP).

        A class is the mean of what all templates make of its name, which takes the place of {} in them; with
        ("{}",) it is the name alone. The numbers of a CLIP sum to 1 over the classes, of which it needs two;
        those of a SigLIP are between 0 and 1 each. Raises UserError if the model was not learned with texts,
        or its files of them are missing.
        """
        from tinyvit.weights.words import read_words

        if self.texts is None:
            raise UserError(
                "this model does not know words: load the folder of a CLIP or SigLIP, with its text side."
            )
        asked = _texts("classes", classes), _texts("templates", templates)
        _check_distinct(asked[0])
        if without := [template for template in asked[1] if "{}" not in template]:
            raise UserError(
                f"the template {without[0]!r} has no {{}}: put {{}} in the place of the class (--template)."
            )
        if self._words is None or self._words[0] != asked:
            words = self._words[1] if self._words else read_words(self.texts)
            self._words = asked, words, words.classes(*map(list, asked))
        _, words, vectors = self._words
        return words.probabilities(check_finite(self.features(images)), vectors)

    def fit(
        self,
        images: Images,
        labels: Labels | None = None,
        *,
        validation: tuple[Images, Labels] | ImageSet | None = None,
        sample_weight: Sequence[float] | np.ndarray | None = None,
        report: Callable[..., object] | None = None,
        progress: bool | None = None,
        **settings: Unpack[FitSettings],
    ) -> Model:
        """Train in place on images and their labels; returns the model itself.

        labels are (n,): numbers from 0, or class names. Training starts from the parameters as they are, so
        that a second call continues; give it another seed, or it makes the same random choices. It is that of
        the commands, with the same settings: `python -m tinyvit.train --help` explains them under
        "augmentation" and "training". By default it takes 10 epochs in batches of 64 with AdamW. With
        recipe="cpu-8-minutes" it has that recipe's settings where no others are given, but for those of the
        model, which is as it is: see preset and whiten. dropout and drop_path are otherwise the model's.

        augment may also be a function of yours: augment(image, rng) returns the image, uint8 (H, W, 3), as
        changed with the NumPy generator rng, which follows from the seed. It is called for each image that is
        drawn, after crops and flips and before erasing and mixing. On a GPU, each batch then passes through
        main memory, which takes time.

        validation is a pair, images and their labels, or an ImageSet, on which the model is judged after each
        epoch or each evaluate_every-th. history is then a list of dictionaries, one for each epoch, with
        epoch, loss and, if it was judged, validation_loss and validation_accuracy; report is called with the
        same numbers, in that order, when the model is what the epoch has made of it (with ema, not yet the
        average), and training ends if it returns True. With patience=N it ends when N
        judgements in a row were not better than the best, and the model is that of the best. sample_weight
        (n,) is how often each image is drawn on average, relative to the others.

        progress is whether to print a line that moves and a line for each epoch. By default that is done in a
        terminal or a notebook, unless there is a report.

        Raises UserError for unfit settings or data, and if training diverges; the model is then as before.
        """
        from tinyvit.training.fit import fit  # here, as a prediction needs nothing of it

        self._check_classifies()
        if "threads" in settings:
            raise UserError("fit takes no threads, the model has them: set model.threads first.")
        data, held_out = self._labelled(images, labels, to_learn=True), None
        if validation is not None:
            pair = (validation, None) if isinstance(validation, ImageSet) else validation
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise UserError(f"validation is a {type(validation).__name__}, expected (images, labels).")
            held_out = self._labelled(*pair, to_learn=True)
        self._check_writable()
        history: list[dict[str, float]] = []

        def noted(*known: float) -> object:
            history.append(dict(zip(_HISTORY, known, strict=False)))
            return report(*known) if report else None

        reported = noted if report is None or callable(report) else report
        more: dict[str, Any] = {"validation": held_out, "sample_weight": sample_weight, "report": reported}
        shown = _progress(progress, by_default=report is None)
        try:
            fit(self.config, self.params, data, threads=self.threads, progress=shown, **more, **settings)
        finally:
            if shown:
                shown.close()
        self.history = history
        return self

    def whiten(self, images: Images, *, seed: int = 0) -> Model:
        """Overwrite the patch embedding with first values that suit these images; returns the model itself.

        Do this before fit, with the images to be trained on: see model.whitening. If there are more than
        5,000, the seed chooses as many.
        """
        from tinyvit.training.starting_point import whiten_for  # here, as a prediction needs nothing of it

        check_settings(seed=seed)
        self._check_writable()
        whiten_for(self.config, self.params, self._pixels(images, to_learn=True), seed)
        return self

    def save(self, path: str | Path, layout: str | None = None) -> None:
        """Write the model to a file or folder that `tinyvit.load` reads, or to an .onnx file.

        See weights.save for layouts; 'torch' and 'official' drop the names of the classes and photo_fit,
        with a warning. A model that was saved or exported to that path before is replaced; anything else
        there raises UserError.
        """
        from tinyvit.weights.save import save_model

        for note in save_model(self, _path(path), layout, self.photo_fit):
            warnings.warn(f"{path}: {note}.", stacklevel=2)

    def save_page(self, path: str | Path, images: Images | None = None, labels: Labels | None = None) -> None:
        """Write a page, one HTML file, in which the model runs; images, perhaps with labels, are its samples.

        Its name has to end in .html. A page that was written to that path before is replaced; anything else
        there raises UserError.
        """
        from tinyvit.insight.page import NO_LABEL, choose_samples, write_page
        from tinyvit.weights.save import check_replaceable, left_out

        if (path := _path(path)).suffix.lower() != ".html":  # another ending may be that of a saved model
            raise UserError(f"{path} does not end in .html, as a page does: change its name.")
        check_replaceable(path)
        samples = None
        if isinstance(images, ImageSet) or (images is not None and labels is not None):
            samples = choose_samples(self.config, self._labelled(images, labels))
        elif images is not None:
            pixels = np.ascontiguousarray(self._pixels(images))
            samples = choose_samples(self.config, ImageSet(pixels, np.full(len(pixels), NO_LABEL)))
        elif labels is not None and np.size(labels):
            raise UserError("there are labels but no images: give the images that they belong to.")
        write_page(self, path, samples, f"{self.params.count:,} parameters.")
        for note in left_out(self, "page", self.photo_fit):
            warnings.warn(f"{path}: {note}.", stacklevel=2)

    def with_new_head(self, classes: int | Sequence[str]) -> Model:
        """The same model with a head of zeros for other classes, to be fine-tuned (paper, section 3.2).

        classes is the number of classes, or their names. Raises UserError for what is neither.
        """
        count, names = _count_and_names(classes)
        with _enough_memory():
            return replace(super().with_new_head(count), classes=names)

    def at_resolution(self, side: int | None, position_resize: str | None = None) -> Model:
        """The same model for square images of that side in pixels, with its position embedding resized.

        It has parameters of its own. If side is None, it is this model itself. Edges that its patches do not
        cover are cut off, with a warning.
        """
        with _enough_memory():
            return at_resolution(self, side, position_resize, edge=True)

    def without(self, heads: Iterable[tuple[int, int]] = (), blocks: Iterable[int] = ()) -> Model:
        """The same model with heads and blocks switched off, as the page does it, to see what they do for it.

        heads are pairs (block, head), and blocks are numbers; both count from 0, or backwards from -1. A head
        that is off gives zeros to the matrix that joins the heads; a block that is off adds nothing to the
        tokens that pass it. The model has parameters of its own: the weights that read these zeros are 0.
        """
        L, H, K = self.config.layers, self.config.heads, self.config.head_width
        try:
            pairs = [(range(L)[block], range(H)[head]) for block, head in heads]
            off = [f"blocks.{range(L)[block]}.{end}." for block in blocks for end in ("attn.out", "mlp.fc2")]
        except (IndexError, TypeError, ValueError):
            raise UserError(
                f"heads is {heads!r} and blocks is {blocks!r}, expected pairs (block, head) and numbers of "
                f"blocks, from 0: this model has {counted(L, 'block')} with {counted(H, 'head')} each."
            ) from None
        params = self.params.copy_to(self.params.rows, exclude=tuple(off))
        for block, head in pairs:
            params[f"blocks.{block}.attn.out.weight"][head * K : (head + 1) * K] = 0
        return replace(self, params=params)

    def to(self, device: Device | str) -> Model:
        """The same model on 'cpu' or 'gpu'; if no GPU can be used, it stays on the CPU, with a warning."""
        xp = (device if isinstance(device, Device) else _device(device)).xp
        return self if xp is array_module(self.params.flat) else replace(self, params=self.params.to(xp))

    def engine(self) -> ReferenceEngine:
        """The fastest engine for this model on the device of its parameters.

        It is made on first use and kept, since making it starts threads. Another one is made once the parts
        of the model have been replaced, or in a forked process, which has none of those threads.
        """
        check_settings(threads=self.threads)
        made_for = self.threads, os.getpid()
        if self._engine:
            before, engine = self._engine
            if before == made_for and engine.config is self.config and engine.params is self.params:
                return engine
        engine = make_engine(self.config, self.params, threads=self.threads)
        self._engine = made_for, engine
        return engine

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickle and deepcopy: everything but the engine, whose threads cannot be copied."""
        return {name: value for name, value in vars(self).items() if name not in ("_engine", "_words")}

    def _pixels(self, images: Images, *, to_learn: bool = False) -> np.ndarray:
        """The given images as uint8 pixels (n, H, W, 3)."""
        shape, (H, W) = tuple(getattr(images, "shape", ())), self.config.image_size
        if len(shape) == 2 and shape[-1] in (H * W, 3 * H * W):
            raise UserError(
                f"the images have shape {shape}, which may be rows of pixels or one grey image: expected "
                f"x.reshape(-1, {H}, {W}) or x.reshape(-1, {H}, {W}, 3) for rows, or x[None] for an image."
            )
        return pixels_of(images, self._photo, to_learn=to_learn)

    def _scores(self, images: Images) -> np.ndarray:
        """The logits of a model of classes: (n, C). Raises UserError if one is not a finite number."""
        self._check_classifies()
        return check_finite(self.logits(images))

    def _check_classifies(self) -> None:
        if not self.has_head:
            raise UserError(
                f"this model {why_no_classes(self)}: give it two or more with with_new_head(classes), and "
                "train it."
            )

    def _check_writable(self) -> None:
        """Raise UserError for parameters that cannot be changed, such as those of a file that is mapped."""
        if isinstance(self.params.flat, np.ndarray) and not self.params.flat.flags.writeable:
            raise UserError(
                "the parameters are read-only: use copy.deepcopy(model), or load the model without mmap_mode."
            )

    def _photo(self, photo: Source) -> np.ndarray:
        """One photo as the model sees it, uint8 (H, W, 3)."""
        if isinstance(photo, Path) and os.path.isdir(photo):
            raise UserError(f"{photo} is a folder, expected an image file: give a list of the files in it.")
        return read_photo(photo, self.config.image_size, self.photo_fit, with_whole=False).view

    def _labelled(self, images: Images, labels: Labels | None, *, to_learn: bool = False) -> ImageSet:
        """Images and as many labels, checked."""
        return ImageSet(*self._pixels_and_numbers(images, labels, to_learn=to_learn))

    def _pixels_and_numbers(
        self, images: Images, labels: Labels | None, *, to_learn: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """The images as uint8 pixels (n, H, W, 3) and the numbers of their classes (n,)."""
        if labels is None:
            if not isinstance(images, ImageSet):
                either = "give one label for each image, or a part of a data set, such as shapes.train"
                raise UserError(f"there are images but no labels: {either}.")
            self._check_range(numbers := images.labels)  # places, even of classes that numbers are names of
        else:
            numbers = self._numbers(labels)
        pixels = self._pixels(images, to_learn=to_learn)
        if len(pixels) != len(numbers):
            raise UserError(
                f"found {counted(len(pixels), 'image')} and {counted(len(numbers), 'label')}: expected the "
                "same number of each."
            )
        return np.ascontiguousarray(pixels), numbers

    def _numbers(self, labels: Labels) -> np.ndarray:
        """Labels as int64 (n,); class names are converted to numbers."""
        try:
            given = np.asarray(labels)
        except ValueError:  # as NumPy says of sequences that make no array
            raise UserError(
                "the labels are sequences of several lengths, expected one label for each image."
            ) from None
        if given.ndim == 1 and given.dtype.kind not in "mM" and all(map(_is_whole, given.tolist())):
            self._check_range(given)
            self._check_places(np.unique(given).tolist())
            return given.astype(np.int64)
        if given.ndim != 1:
            raise UserError(f"labels have shape {given.shape}, expected one for each image: (n,).")
        if given.dtype.kind in "fbmM":
            raise UserError(f"labels are {given.dtype}, expected whole numbers from 0, or names of classes.")
        numbers = {class_name(name): c for c, name in enumerate(self.names)}
        names = [class_name(str(name)) for name in given.tolist()]
        if unknown := sorted(set(names) - numbers.keys()):
            known = nearest(unknown[0], self.names)
            raise UserError(f"there is no class {unknown[0]!r}: the classes are {known}.")
        return np.array([numbers[name] for name in names], dtype=np.int64)

    def _check_range(self, labels: np.ndarray) -> None:
        """Raise UserError for a label that is not the number of a class."""
        classes = self.config.classes
        if len(labels) and (labels.min() < 0 or labels.max() >= classes):
            worst = labels.min() if labels.min() < 0 else labels.max()
            raise UserError(
                f"a label is {worst}, expected 0 to {classes - 1} for a model of "
                f"{counted(classes, 'class', 'classes')}."
            )

    def _check_places(self, labels: list[int]) -> None:
        """Raise UserError for labels that may be the places of classes, or their names, which are numbers."""
        places = {int(name): c for c, name in enumerate(self.names) if name.isdecimal()}
        if labels and labels != [places.get(label) for label in labels] and places.keys() >= {*labels}:
            raise UserError(
                f"a label is {labels[-1]}, the name of class {places[labels[-1]]}, but numbers count classes "
                "from 0, in their order: give names as text, [str(label) for label in labels], and places as "
                "numpy.array(model.names)[labels]."
            )


def load(
    source: str | Path,
    *,
    checkpoint: str = "best",
    heads: int | None = None,
    device: str = "cpu",
    threads: int | None = None,
    report: Report | None = None,
) -> Model:
    """The model in a run folder, a file of weights, a Hugging Face folder, or under a known name.

    Known names, such as "Ti_16-384", are downloaded once, with calls of report(done_bytes, total_bytes).
    checkpoint is "best" or "last", for a run. heads is the number of heads, if the file does not state it.
    If the files beside published weights state the size of photos, the model is one for that size, and
    at_resolution gives it another. Raises UserError if the source is none of these, is damaged, or is a model
    that tinyvit does not have.
    """
    if checkpoint not in ("best", "last"):
        raise UserError(f"checkpoint is {checkpoint!r}, expected 'best' or 'last'.")
    check_settings(heads=heads, threads=threads)
    where = _device(device)
    found = load_any(str(source), report, heads, checkpoint)
    return Model(**vars(found), threads=threads).to(where)


def preset(
    name: str,
    image_size: tuple[int, int] | int,
    classes: int | Sequence[str],
    *,
    seed: int = 0,
    init: str = "official",
    threads: int | None = None,
    **changes: Any,
) -> Model:
    """A new model by name, such as "nano/4" or "resnet-50", with random parameters that depend on the seed.

    classes is the number of classes, or their names. init is "official", or "mimetic" for attention that
    looks at close and similar patches from the start. Further keyword arguments replace fields of ViTConfig.
    Raises UserError if there is no such model or field, its patches do not fit the images, two classes have
    one name or one has a name that is not text on one line, or the model cannot start as init says, or does
    not fit into memory.
    """
    check_settings(seed=seed, threads=threads)
    if changes.get("channels", 3) != 3:
        raise UserError(
            f"channels is {changes['channels']!r}, expected 3: images are colour photos here. Give grey ones "
            "three equal channels."
        )
    count, names = _count_and_names(classes)
    config = core.preset(name, image_size, count, **changes)
    with _enough_memory():
        return Model(config, core.initialise(config, seed, init=init), names, threads=threads)


def _count_and_names(classes: int | Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """Number of classes, and their names; no names if they were only counted."""
    wrong = isinstance(classes, str | bool | Mapping | Set)  # the last two have no order to rely on
    wrong |= isinstance(classes, np.ndarray) and classes.ndim != 1
    if wrong or not isinstance(classes, int | np.integer | Iterable):
        raise UserError(f"classes is {classes!r}, expected how many there are, or a list of their names.")
    if not isinstance(classes, Iterable):
        return int(classes), ()
    given: list[Any] = list(classes)
    numbers = not any(isinstance(name, np.ndarray) for name in given) and given == list(range(len(given)))
    if not numbers and (others := [name for name in given if not isinstance(name, str)]):
        raise UserError(
            f"a class is called {others[0]!r}, expected text: labels that are numbers count from 0 in "
            "the order of the classes. Give names and labels as text, or only how many classes there are."
        )
    names = tuple(unicodedata.normalize("NFC", str(name)) for name in given)
    if unfit := [name for name in names if not name or name != printable(name)]:
        raise UserError(
            f"a class is called {unfit[0]!r}, expected a name that is not empty and has no line breaks, tabs "
            "or other control characters."
        )
    _check_distinct(names)
    if len(names) == 1:
        raise UserError(f"{names[0]!r} is the only class: name at least two, which can be told apart.")
    return len(names), names


def _check_distinct(names: Sequence[str]) -> None:
    """Raise UserError if two classes have one name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"two classes are called {twice!r}: give each a name of its own.")


def _texts(what: str, given: Iterable[str]) -> tuple[str, ...]:
    """Strings in an order that can be relied on. Raises UserError for anything else."""
    is_ordered = isinstance(given, Iterable) and not isinstance(given, str | Mapping | set | frozenset)
    texts = tuple(given) if is_ordered else ()
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise UserError(f"{what} is {given!r}, expected a list of texts.")
    return texts


def _is_whole(label: Any) -> bool:
    """True if a label is a whole number; a boolean is not."""
    return type(label) is int or isinstance(label, np.integer)


def _path(path: str | Path) -> Path:
    """The path; UserError for what cannot be one."""
    try:
        converted = Path(path)
    except TypeError:
        raise UserError(f"the path is {path!r}, expected text or a pathlib.Path.") from None
    if "\0" in str(converted):
        raise UserError(f"the path is {str(converted)!r}, expected one without a null character.")
    try:
        os.fsencode(converted)
    except UnicodeEncodeError:
        raise UserError(
            f"the path is {str(converted)!r}, with a character that no file name can hold: choose another."
        ) from None
    return converted


def _progress(wanted: bool | None, by_default: bool) -> Progress | None:
    """A display on standard output, if wanted; if None, by default where a terminal or notebook shows it."""
    from tinyvit.support.shell.moving_line import is_watched
    from tinyvit.support.shell.progress import Progress

    if wanted is None:
        wanted = by_default and is_watched(sys.stdout)
    return Progress() if wanted else None


@contextmanager
def _enough_memory() -> Iterator[None]:
    """Within this context, a model that does not fit into memory is a UserError."""
    try:
        yield
    except MemoryError as error:
        raise UserError(
            "the model does not fit into memory: choose a smaller one, smaller images, or fewer classes."
        ) from error


def _device(name: str) -> Device:
    """The device of that name; a warning says why it is not a GPU where one was asked for."""
    if name not in ("auto", "cpu", "gpu"):
        raise UserError(f"device is {name!r}, expected 'auto', 'cpu' or 'gpu'.")
    device = select_device(name)
    if device.note:
        warnings.warn(device.note, stacklevel=3)
    return device
