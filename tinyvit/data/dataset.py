"""The common form of all data sets: arrays of pixels and labels, and the names of the classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tinyvit.support.errors import UserError, class_name, nearest
from tinyvit.support.figures import counted

PURPOSES = {"train": "to train on", "validation": "for validation", "test": "to test on"}
Counter = Callable[[int, int], None]  # is called with how much is done, and how much there is in all
Note = Callable[[str], None]  # a line to show to the user


class Rows:
    """Some images, in any order, of an array that is mapped from the disk or decoded when it is read.

    So a data set can be larger than the memory. Rows are indexed as an array (n, H, W, 3) is along its first
    axis: a single image is an array; several are Rows again, and nothing is read before np.asarray(rows).
    """

    def __init__(self, images: Any, rows: Sequence[int] | np.ndarray):
        self._images, self._rows = images, np.asarray(rows, np.int64)
        self.shape: tuple[int, ...] = (len(self._rows), *images.shape[1:])
        self.dtype: np.dtype = images.dtype
        self.ndim: int = images.ndim

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> Any:
        rows = self._rows[key]
        return Rows(self._images, rows) if np.ndim(rows) else np.array(self._images[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(np.array(self._images[self._rows]), dtype)


@dataclass(frozen=True, eq=False, repr=False)
class ImageSet:
    """Images and their labels.

    images: uint8 (n, H, W, 3), channels last, C-contiguous, or Rows of such an array on the disk; labels:
    int64 (n,). names: those of their files, if they have any. Anything else raises a ValueError.

    It yields pairs, an image (H, W, 3) and its label, and np.asarray gives its images.
    """

    images: np.ndarray | Rows
    labels: np.ndarray
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        images, labels = self.images, self.labels
        for name, given in (("images", images), ("labels", labels)):
            if not hasattr(given, "dtype"):
                raise ValueError(f"{name} are a {type(given).__name__}, expected an array")
        if images.dtype != np.uint8 or images.ndim != 4 or images.shape[-1] != 3:
            raise ValueError(f"images are {images.dtype} {images.shape}, expected uint8 (n, H, W, 3)")
        if isinstance(images, np.ndarray) and not images.flags.c_contiguous:
            raise ValueError("images are not C-contiguous")
        if labels.dtype != np.int64 or labels.shape != images.shape[:1]:
            raise ValueError(f"labels are {labels.dtype} {labels.shape}, expected int64 {images.shape[:1]}")
        if self.names and len(self.names) != len(labels):
            raise ValueError(f"found {counted(len(self.names), 'name')}, expected {len(labels)} or none")

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, key: Any) -> Any:
        """One image and its label; for a slice, a mask or several indices, an ImageSet."""
        if isinstance(key, int | np.integer):
            return self.images[key], int(self.labels[key])
        return self.take(np.arange(len(self))[key])

    def __iter__(self) -> Iterator[tuple[np.ndarray, int]]:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.images, dtype)

    def __repr__(self) -> str:
        count, height, width, _ = self.images.shape
        return f"ImageSet({counted(count, 'image')} of {height} x {width})"

    def take(self, indices: np.ndarray) -> ImageSet:
        """The images at these indices, in their order: a copy, unless they are on the disk."""
        names = tuple(self.names[i] for i in indices) if self.names else ()
        return ImageSet(self.images[indices], self.labels[indices], names)


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Images for training and for testing; label c is called classes[c].

    validation, if there is one, was held out from train: use it to choose settings, and test only for the
    final result. files, if the user may change the files that the images are read from, is a digest of them,
    and left_out has a reason for each file beside them that is not used. drawn are the parts that the user
    did not bring, but tinyvit has split off from the training images.
    """

    name: str
    classes: tuple[str, ...]
    train: ImageSet
    test: ImageSet
    validation: ImageSet | None = None
    files: str = ""
    left_out: dict[str, str] = field(default_factory=dict)
    drawn: tuple[str, ...] = ()

    def __repr__(self) -> str:
        held_out = f"{len(self.validation):,} for validation, " if self.validation else ""
        return (
            f"Dataset({self.name!r}, {counted(len(self.classes), 'class', 'classes')}, "
            f"{counted(len(self.train), 'image')} to train on, {held_out}{len(self.test):,} to test on)"
        )

    def file_names(self) -> set[str]:
        """The names of the files of all images, if they have any."""
        parts = self.train, self.validation, self.test
        return {name for images in parts if images for name in images.names}


def hold_out(dataset: Dataset, count: float, seed: int) -> Dataset:
    """The same data with count training images moved to validation, in proportion from every class.

    A count below 1 is a share of the training images. The choice depends only on the seed. Raises UserError
    unless 1 <= count < the number of training images, or if a class would have none left, or the data set
    already has a validation set.
    """
    if dataset.validation is not None:
        raise UserError(f"{dataset.name} has a folder of validation images already: omit --validation.")
    chosen = chosen_to_hold_out(dataset.train.labels, dataset.classes, count, seed)
    return replace(
        dataset,
        train=dataset.train.take(np.flatnonzero(~chosen)),
        validation=dataset.train.take(np.flatnonzero(chosen)),
        drawn=(*dataset.drawn, "validation"),
    )


def chosen_to_hold_out(labels: np.ndarray, classes: Sequence[object], count: float, seed: int) -> np.ndarray:
    """True for the training images that hold_out moves to validation: bool (n,)."""
    total = len(labels)
    count = max(1, round(count * total)) if 0 < count < 1 else int(count)
    if not 1 <= count < total:
        raise UserError(
            f"cannot hold out {count:,} of {total:,} training images for validation; "
            f"choose a number from 1 to {total - 1:,}."
        )
    rng = np.random.Generator(np.random.Philox(seed))
    chosen = np.zeros(total, dtype=bool)
    for label, share in enumerate(_shares(class_counts(labels), count)):
        members = np.flatnonzero(labels == label)
        if share and share == len(members):
            raise UserError(
                f"holding out {count:,} of {total:,} training images would leave none of "
                f"{classes[label]}, which has {len(members):,}: choose a smaller number."
            )
        chosen[rng.permutation(members)[:share]] = True
    return chosen


def take_share(dataset: Dataset, fraction: float, seed: int) -> Dataset:
    """The same data with only a fraction of the training images, the same fraction of every class.

    The choice depends only on the seed, and a larger fraction includes the images of a smaller one. Raises
    UserError if a class would have no image left.
    """
    rng = np.random.Generator(np.random.Philox(seed))
    chosen = np.zeros(len(dataset.train), dtype=bool)
    for label, name in enumerate(dataset.classes):
        members = np.flatnonzero(dataset.train.labels == label)
        count = round(fraction * len(members))
        if len(members) and not count:
            raise UserError(
                f"a fraction of {fraction:g} of the {len(members):,} training images of {name} is less than "
                f"one image: choose --fraction {1 / len(members):.2g} or more."
            )
        chosen[rng.permutation(members)[:count]] = True
    found = replace(dataset, train=dataset.train.take(np.flatnonzero(chosen)))
    left_out = dict.fromkeys(dataset.file_names() - found.file_names(), "--fraction leaves it out")
    return replace(found, left_out=dataset.left_out | left_out)


def class_names(text: str, known: Sequence[str] = ()) -> list[str]:
    """The names of classes in a text, where they are separated by commas.

    Of the known names, which may contain commas themselves, the longest that fits is taken each time.
    """
    parts, names = class_name(text).split(","), []
    most = 1 + max((name.count(",") for name in known), default=0)
    while parts:
        starts = [",".join(parts[:count]).strip() for count in range(min(most, len(parts)), 0, -1)]
        name = next((start for start in starts if start in known), starts[-1])
        names.append(name)
        parts = parts[len(starts) - starts.index(name) :]
    return names


def check_kept(dataset: str, only: str | None, classes: Sequence[str]) -> None:
    """Raise UserError unless the names in a text, if any, are those of two or more classes of a data set."""
    if only:
        _check_names(dataset, class_names(only, classes), classes)


def _check_names(dataset: str, names: Sequence[str], classes: Sequence[str]) -> None:
    if unknown := [name for name in names if name not in classes]:
        raise UserError(
            f"{dataset} has no class {unknown[0]!r}: expected some of "
            f"{nearest(repr(unknown[0]), [*map(repr, classes)])}."
        )
    if not 2 <= len(set(names)) == len(names):
        listed = ", ".join(map(repr, names))
        raise UserError(f"expected at least two different classes to keep, not {listed}.")


def keep_classes(dataset: Dataset, names: Sequence[str]) -> Dataset:
    """The images of the named classes alone, which are numbered from 0 in the order of their names here.

    Raises UserError unless they are at least two different classes of the data set.
    """
    names = [*map(class_name, names)]
    _check_names(dataset.name, names, dataset.classes)
    new = np.full(len(dataset.classes), -1, np.int64)
    new[[dataset.classes.index(name) for name in names]] = np.arange(len(names))

    def kept(images: ImageSet) -> ImageSet:
        chosen = images.take(np.flatnonzero(new[images.labels] >= 0))
        return replace(chosen, labels=new[chosen.labels])

    train, test = kept(dataset.train), kept(dataset.test)
    validation = kept(dataset.validation) if dataset.validation else None
    found = replace(dataset, classes=tuple(names), train=train, test=test, validation=validation)
    for part, purpose in PURPOSES.items():
        if getattr(dataset, part) and not getattr(found, part):
            these = f"the {len(names)} classes that --only keeps"
            raise UserError(f"{dataset.name} has no images of {these} {purpose}: keep other classes.")
    left_out = dict.fromkeys(dataset.file_names() - found.file_names(), "--only leaves its class out")
    return replace(found, left_out=dataset.left_out | left_out)


def class_counts(labels: np.ndarray, classes: int = 0) -> np.ndarray:
    """Number of images of each class, of the labels (n,); of at least that many classes."""
    return np.bincount(labels.astype(np.intp, copy=False), minlength=classes)  # int64 may be wider than intp


def one_of_each(labels: np.ndarray, count: int) -> np.ndarray:
    """Indices of `count` images: the first of every class, then the second of every class, and so on."""
    turn = np.empty(len(labels), dtype=int)  # how many of the same class came before
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        turn[members] = np.arange(len(members))
    return np.lexsort((labels, turn))[:count]


def _shares(sizes: np.ndarray, count: int) -> np.ndarray:
    """count split in proportion to sizes, rounded down; what remains goes to those that lost most.

    Those that it would take whole come last.
    """
    shares, lost = np.divmod(count * sizes, sizes.sum())
    shares[np.lexsort((-lost, shares + 1 >= sizes))[: count - shares.sum()]] += 1
    return shares
