"""The parts of a data set that the user brings: to train on, for validation, to test on."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np

from tinyvit.data.dataset import Dataset, ImageSet, Note
from tinyvit.errors import UserError, printable

T = TypeVar("T")

TEST_SHARE = 0.2  # of the images of each class, if there are no test images
NAMES = {
    "train": ("train", "training"),
    "validation": ("val", "valid", "validation", "dev"),
    "test": ("test", "testing"),
}
PURPOSES = {"train": "to train on", "validation": "for validation", "test": "to test on"}
Given = tuple[np.ndarray, np.ndarray, tuple[str, ...]]  # images, their labels as they came, perhaps names


def part_called(word: str) -> str | None:
    """'train', 'validation' or 'test', if the word means one of them."""
    return next((part for part, names in NAMES.items() if word.lower() in names), None)


def split_classes(classes: dict[str, list[T]], seed: int) -> dict[str, dict[str, list[T]]]:
    """What to train on and what to test on of each class; all there is of a class of one is to train on."""
    rng = np.random.Generator(np.random.Philox(seed))
    train, test = {}, {}
    for name, members in classes.items():
        order = rng.permutation(len(members))
        held_out = max(1, round(TEST_SHARE * len(members))) if len(members) > 1 else 0
        test[name] = [members[i] for i in sorted(order[:held_out])]
        train[name] = [members[i] for i in sorted(order[held_out:])]
    return {"train": train, "test": test}


def summary(path: Path, counts: dict[str, int], classes: int) -> str:
    """What was found, in one line; counts are the images of each part."""
    told = [f"{count:,} {PURPOSES[part]}" for part, count in counts.items()]
    images = f"{sum(counts.values()):,} images of {classes:,} classes"
    return f"{path}: {images}, {', '.join(told[:-1])} and {told[-1]}"


def dataset_of(
    path: Path, given: dict[str, Given], classes: Sequence[str], seed: int, files: str, note: Note | None
) -> Dataset:
    """A data set of the given parts, whose labels are texts or whole numbers.

    Numbers are places among the classes, if their names are known; otherwise every label of the training
    images is a class. Without test images, those for validation take their place or, if there are none
    either, TEST_SHARE of each class, chosen by the seed. Raises UserError if the labels do not fit together.
    """
    if "train" not in given:
        raise UserError(f"{path} has no images to train on: expected a part called train.")
    found = given["train"][1].tolist()
    are_places = len(classes) and given["train"][1].dtype.kind in "iu"
    keys = range(len(classes)) if are_places else list(classes) or sorted(set(found))
    names = [printable(str(name)) for name in (classes if len(classes) else keys)]
    if len(names) < 2 or len(set(names)) < len(names) or not all(map(str.strip, names)):
        listed = ", ".join(map(repr, names[:5]))
        raise UserError(
            f"{path} has the classes {listed}, expected at least two, each with a name of its own."
        )
    place = {key: c for c, key in enumerate(keys)}
    parts = {}
    for part, (images, labels, files_of) in given.items():
        if unknown := sorted(set(labels.tolist()) - place.keys(), key=str):
            raise UserError(
                f"{path} has the label {unknown[0]!r} among the images {PURPOSES[part]}, expected one of "
                f"{', '.join(map(repr, list(keys)[:20]))}."
            )
        parts[part] = ImageSet(
            images, np.array([place[label] for label in labels.tolist()], np.int64), files_of
        )
    if "test" not in parts and "validation" in parts:
        parts["test"] = parts.pop("validation")
    if "test" not in parts:
        whole = parts["train"]
        members = {name: np.flatnonzero(whole.labels == c).tolist() for c, name in enumerate(names)}
        for part, chosen in split_classes(members, seed).items():
            parts[part] = whole.take(np.array(sorted(chain(*chosen.values())), dtype=np.int64))
    if empty := [part for part, images in parts.items() if not len(images)]:
        raise UserError(f"{path} has no images {PURPOSES[empty[0]]}: add some.")
    if note:
        note(summary(path, {part: len(images) for part, images in parts.items()}, len(names)))
        if lacking := set(range(len(names))) - set(parts["train"].labels.tolist()):
            note(f"there are no images of {', '.join(repr(names[c]) for c in sorted(lacking))} to train on")
    return Dataset(
        path.resolve().name, tuple(names), parts["train"], parts["test"], parts.get("validation"), files
    )
