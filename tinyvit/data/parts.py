"""The parts of a data set that the user brings: to train on, for validation, to test on.

The same image in two parts makes a model look better than it is: see without_twins.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tinyvit.data.dataset import PURPOSES, Dataset, ImageSet, Note
from tinyvit.support.errors import UserError, class_name

T = TypeVar("T")

_SHOWN = 5  # names in a line
TEST_SHARE = 0.2  # of the images of each class, if there are no test images
NAMES = {
    "train": ("train", "training"),
    "validation": ("val", "valid", "validation", "dev"),
    "test": ("test", "testing"),
}
_SPLIT = ("split", "subset", "partition", "usage", "phase")
_YES, _NO = ("true", "yes", "t", "y", "1"), ("false", "no", "f", "n", "0")
_FLAGS = {*_YES, *_NO}
Given = tuple[np.ndarray, np.ndarray, tuple[str, ...]]  # images, their labels as they came, perhaps names


def part_called(word: str) -> str | None:
    """'train', 'validation' or 'test', if the word means one of them."""
    return next((part for part, names in NAMES.items() if word.lower() in names), None)


def splits(column: str) -> bool:
    """True if a column, or an array, of that name says which part each image is in."""
    return column.lower() in _SPLIT or "split" in re.split(r"\W|_", column.lower()) or bool(_flagged(column))


def part_said(column: str, cell: str) -> str | None:
    """The part that a cell of such a column means; None if it is unclear."""
    cell = cell.strip().lower()
    flagged = _flagged(column) or (part_called(column) if cell in _FLAGS else None)
    if not flagged:
        return part_called(cell)
    if cell in _YES:
        return flagged
    return ("test" if flagged == "train" else "train") if cell in _NO else None


def holds_parts(column: str, cells: Collection[str]) -> bool:
    """True if these cells say which part each image is in, though their column is not called so.

    All of them are names of parts, or some are train and others test, or they are yes and no of a part.
    """
    named = {part_called(cell) for cell in cells}
    is_mixed = "train" in named and len(named - {None}) > 1
    is_flag = bool(part_called(column)) and column.lower() != "valid" and {*map(str.lower, cells)} <= _FLAGS
    return bool(cells) and (None not in named or is_mixed or is_flag)


def _flagged(column: str) -> str | None:
    """The part that a column of yes and no is about, such as validation for is_valid."""
    words = re.fullmatch("is_?([a-z]+?)(_?(image|set))?", column.lower())
    return part_called(words[1]) if words else None


def first_word(name: str) -> str:
    """The letters that a name begins with."""
    return re.split(r"[^A-Za-z]", name)[0]


def with_test(parts: dict[str, T]) -> dict[str, T]:
    """The same parts; if none is for testing, the one for validation takes its place."""
    renamed = {} if "test" in parts else {"validation": "test"}
    return {renamed.get(part, part): images for part, images in parts.items()}


def split_classes(path: Path, classes: dict[str, list[T]], seed: int) -> dict[str, dict[str, list[T]]]:
    """The images of each class to train on and to test on; the only image of a class is to train on.

    Raises UserError, which names path, if that is so of every class.
    """
    rng = np.random.Generator(np.random.Philox(seed))
    train, test = {}, {}
    for name, members in classes.items():
        order = rng.permutation(len(members))
        held_out = max(1, round(TEST_SHARE * len(members))) if len(members) > 1 else 0
        test[name] = [members[i] for i in sorted(order[:held_out])]
        train[name] = [members[i] for i in sorted(order[held_out:])]
    if not any(test.values()):
        raise UserError(
            f"{path} has a single image of each class, expected several, of which a fifth is held out for "
            "testing: add some, or bring images to test on."
        )
    return {"train": train, "test": test}


def summary(path: Path, counts: dict[str, int], classes: Sequence[str]) -> list[str]:
    """Lines about the images of each part, which counts has, and about classes with nearly the same name."""
    told = [f"{count:,} {PURPOSES[part]}" for part, count in counts.items()]
    images = f"{sum(counts.values()):,} images of {len(classes):,} classes"
    first: dict[str, str] = {}
    keys = [re.sub(r"(?<=\d)\.0+$|\s", "", name.lower()) for name in classes]  # 1.0 is 1
    pairs = [(first.setdefault(key, name), name) for key, name in zip(keys, classes, strict=True)]
    return [f"{path}: {images}, {', '.join(told[:-1])} and {told[-1]}"] + [
        f"the classes {one!r} and {name!r} have nearly the same name" for one, name in pairs if one != name
    ]


def doubtful(classes: Iterable[str]) -> list[str]:
    """A line for each class whose name often stands for no label."""
    return [
        f"a class is called {name!r}: if its images have no label, leave them out"
        for name in classes
        if name.lower() in ("none", "na", "-1", "?")
    ]


def is_missing(label: str) -> bool:
    """True for text that stands for no label: none at all, or NaN and the like, as pandas writes it."""
    return label.strip().lower() in ("", "nan", "null", "<na>", "n/a", "#n/a")


def listed(names: Iterable[str]) -> str:
    """The first names, separated by commas, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def numbered(
    path: Path, given: Mapping[str, np.ndarray], classes: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, np.ndarray]]:
    """The names of the classes, and the labels of each part as their numbers, int64 (n,).

    Labels that are whole numbers are places among the classes, if their names are known; otherwise every
    label of the training images is a class. Raises UserError if the labels do not fit together.
    """
    if "train" not in given:
        raise UserError(f"{path} has no images to train on: expected a part called train.")
    labels = {}
    for part, these in given.items():
        if these.dtype.kind == "U":
            texts, where = np.unique(these, return_inverse=True)
            these = np.array([class_name(text) for text in texts.tolist()])[where]
        labels[part] = these.tolist()
    named = tuple(map(class_name, classes))
    are_places = len(named) and given["train"].dtype.kind in "iu"
    keys = range(len(named)) if are_places else named or sorted(set(labels["train"]))
    names = named or tuple(map(str, keys))
    if len(names) < 2 or len(set(names)) < len(names) or any(map(is_missing, names)):
        raise UserError(
            f"{path} has the classes {listed(map(repr, names))}, expected at least two, each with a name of "
            "its own."
        )
    place = {key: c for c, key in enumerate(keys)}
    for part, these in labels.items():
        if unknown := sorted(set(these) - place.keys(), key=str):
            raise UserError(
                f"{path} has the label {unknown[0]!r} among the images {PURPOSES[part]}, expected one of "
                f"{', '.join(map(repr, list(keys)[:20]))}."
            )
    return names, {
        part: np.array([place[each] for each in these], np.int64) for part, these in labels.items()
    }


def dataset_of(
    path: Path, given: dict[str, Given], classes: Sequence[str], seed: int, files: str, note: Note | None
) -> Dataset:
    """A data set of the given parts, whose labels are texts or whole numbers: see numbered.

    Without test images, those for validation take their place or, if there are none either, TEST_SHARE of
    each class, chosen by the seed. Raises UserError if the labels do not fit together.
    """
    names, labels = numbered(path, {part: these for part, (_, these, _) in given.items()}, classes)
    parts = with_test(
        {part: ImageSet(images, labels[part], files_of) for part, (images, _, files_of) in given.items()}
    )
    if is_drawn := "test" not in parts:
        whole = parts["train"]
        members = {name: np.flatnonzero(whole.labels == c).tolist() for c, name in enumerate(names)}
        for part, chosen in split_classes(path, members, seed).items():
            parts[part] = whole.take(np.array(sorted(chain(*chosen.values())), dtype=np.int64))
    if empty := [part for part, images in parts.items() if not len(images)]:
        raise UserError(f"{path} has no images {PURPOSES[empty[0]]}: add some.")
    note = note or (lambda line: None)
    for line in summary(path, {part: len(images) for part, images in parts.items()}, names):
        note(line)
    for line in doubtful(names):
        note(line)
    if lacking := sorted(set(range(len(names))) - set(parts["train"].labels.tolist())):
        note(f"there are no images of {listed(repr(names[c]) for c in lacking)} to train on")
    validation = parts.get("validation")
    drawn = ("test",) if is_drawn else ()
    return Dataset(path.resolve().name, names, parts["train"], parts["test"], validation, files, drawn=drawn)


_AT_A_TIME = 500  # images in memory


def without_twins(dataset: Dataset, note: Note, is_again: bool = False) -> Dataset:
    """The same data; the parts that tinyvit has drawn lose the images that an earlier part has too.

    Images are the same if all of their pixels are. A part that would lose all of its images keeps them. note
    receives a line for each kind of twins; if is_again, only for those that are left out now.
    """
    parts: dict[str, Any] = {part: getattr(dataset, part) for part in PURPOSES if getattr(dataset, part)}
    first: dict[bytes, tuple[str, int, str]] = {}  # part, label and name of the first image with these pixels
    torn, left_out = [], dict(dataset.left_out)
    for part, images in parts.items():
        twins: dict[int, tuple[str, str]] = {}  # by their places here: the part of the other, and the names
        for i, digest in enumerate(_digests(images)):
            name = images.names[i] if images.names else f"image {i} {PURPOSES[part]}"
            earlier, label, its_name = first.setdefault(digest, (part, images.labels[i], name))
            if label != images.labels[i]:
                torn.append(f"{its_name} = {name}")
            if earlier != part:
                twins[i] = earlier, f"{name} = {its_name}"
        is_cut = part in dataset.drawn and 0 < len(twins) < len(images)
        for earlier in dict.fromkeys(earlier for earlier, _ in twins.values()):
            pairs = [pair for its_part, pair in twins.values() if its_part == earlier]
            if is_cut or not is_again:
                what = f"images {PURPOSES[part]} that are also there {PURPOSES[earlier]}"
                note(f"{what}: {len(pairs):,}{', left out' * is_cut} ({listed(pairs)})")
        if is_cut:
            parts[part] = images.take(np.setdiff1d(np.arange(len(images)), [*twins]))
            if images.names:
                left_out |= {images.names[i]: f"the same image: {pair}" for i, (_, pair) in twins.items()}
    if torn and not is_again:
        note(f"images that are in two classes: {len(torn):,} ({listed(torn)})")
    return replace(dataset, **parts, left_out=left_out)


def _digests(images: ImageSet) -> Iterator[bytes]:
    """A digest of the pixels of each image, a few of which are read at a time."""
    for start in range(0, len(images), _AT_A_TIME):
        for pixels in np.asarray(images.images[start : start + _AT_A_TIME]):
            yield hashlib.blake2b(pixels, digest_size=16).digest()
