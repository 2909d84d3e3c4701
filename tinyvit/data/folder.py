"""Images of any size and any format that Pillow reads, in one folder for each class."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np

from tinyvit.data.dataset import Dataset, ImageSet
from tinyvit.data.image_files import is_hidden, is_image_name, visible_files
from tinyvit.data.photos import read_photos
from tinyvit.errors import UserError, printable

LAYOUT = "PATH/train/CLASS/image and PATH/test/CLASS/image, or just PATH/CLASS/image"
_TEST_NAMES = ("test", "val", "valid", "validation")
TEST_SHARE = 0.2  # of the images of each class, if there is no folder of test images

Decoding = Callable[[int, int], None]  # images decoded so far, images in total
Note = Callable[[str], None]  # a line to show to the user
Classes = dict[str, list[Path]]  # the image files of each class, both in sorted order


def load_folder(
    path: Path, image_size: int, seed: int, decoding: Decoding | None = None, note: Note | None = None
) -> Dataset:
    """The images below path as a data set of images (n, image_size, image_size, 3).

    The images are in PATH/train/CLASS/image and PATH/test/CLASS/image (test may also be called val, valid or
    validation), or in PATH/CLASS/image. In the latter case a fifth of each class, chosen by the seed, is held
    out for testing. Names are read in sorted order. Hidden files and files without an image extension are
    skipped.

    note receives one line: how many images of how many classes were found, and how many files were skipped.
    decoding(done, total) is called before the first image is decoded and after each one.

    Raises UserError if path is not such a folder, if it has fewer than two classes or a class without images,
    if a file named as an image is not one, or if the training and test images have different classes.
    """
    if not path.is_dir():
        raise UserError(f"{path} is not a folder, expected one with a folder for each class: {LAYOUT}.")
    if [entry.name for entry in _visible(path)] == ["train"]:
        raise UserError(f"{path} contains only train, expected a folder of test images as well: {LAYOUT}.")
    train_folder, *test_folders = folders_of_classes(path)
    if test_folders:
        train, test = _find_images(train_folder), _find_images(test_folders[0])
        _check_same_classes(train, train_folder, test, test_folders[0])
    else:
        train, test = _split(_find_images(path), seed)
    if note:
        note(_what_was_found(path, train, test))
    decoded = _Counter(decoding, len(_files(train)) + len(_files(test)))
    return Dataset(
        path.resolve().name,
        tuple(train),
        _read_set(train, image_size, decoded),
        _read_set(test, image_size, decoded),
        files=_digest(path, [*_files(train), *_files(test)]),
    )


def folders_of_classes(path: Path) -> list[Path]:
    """Where the folders of the classes are: the folders of training and of test images, or path alone."""
    test_folder = next((path / name for name in _TEST_NAMES if (path / name).is_dir()), None)
    return [path / "train", test_folder] if (path / "train").is_dir() and test_folder else [path]


def _digest(path: Path, files: list[Path]) -> str:
    """A digest of the names and the sizes of files below path."""
    lines = sorted(f"{file.relative_to(path).as_posix()} {file.stat().st_size}" for file in files)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


class _Counter:
    """Counts and reports the images decoded so far."""

    def __init__(self, report: Decoding | None, total: int):
        self._report, self._done, self._total = report, 0, total
        self.add(0)

    def add(self, count: int) -> None:
        self._done += count
        if self._report:
            self._report(self._done, self._total)


def _find_images(folder: Path) -> Classes:
    folders = [entry for entry in _visible(folder) if entry.is_dir()]
    first: dict[str, str] = {}  # of the folders with this name, as it is printed
    for entry in folders:
        if (before := first.setdefault(printable(entry.name), entry.name)) != entry.name:
            raise UserError(
                f"{folder} contains the folders {before!r} and {entry.name!r}, whose names are printed "
                "alike, expected a name of its own for each class: rename one of them."
            )
    classes = {printable(entry.name): _image_files(entry) for entry in folders}
    if len(classes) < 2:
        found = f"only the class {next(iter(classes))!r}" if classes else "no folders"
        raise UserError(f"{folder} contains {found}, expected at least two class folders: {LAYOUT}.")
    for name, files in classes.items():
        if not files:
            raise UserError(
                f"{folder / name} contains no images, expected at least one; add some or remove the folder."
            )
    return classes


def _image_files(folder: Path) -> list[Path]:
    return [entry for entry in _visible(folder) if is_image_name(entry) and entry.is_file()]


def _visible(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not is_hidden(entry))


def _check_same_classes(train: Classes, train_folder: Path, test: Classes, test_folder: Path) -> None:
    if odd := sorted(train.keys() ^ test.keys()):
        has, lacks = (train_folder, test_folder) if odd[0] in train else (test_folder, train_folder)
        raise UserError(
            f"{has} has a class {odd[0]!r} that {lacks} does not have, expected the same classes in both; "
            "add the missing folder or remove the other."
        )


def _split(classes: Classes, seed: int) -> tuple[Classes, Classes]:
    """The training and test files of each class, at least one of each."""
    rng = np.random.Generator(np.random.Philox(seed))
    train, test = {}, {}
    for name, files in classes.items():
        if len(files) < 2:
            raise UserError(
                f"{files[0].parent} contains a single image, expected at least two: "
                "one to train on and one to test on."
            )
        order = rng.permutation(len(files))
        held_out = max(1, round(TEST_SHARE * len(files)))
        test[name] = [files[i] for i in sorted(order[:held_out])]
        train[name] = [files[i] for i in sorted(order[held_out:])]
    return train, test


def _what_was_found(path: Path, train: Classes, test: Classes) -> str:
    """One line about the images, and the files below path that are not images or not in a class folder."""
    used = {*_files(train), *_files(test)}
    skipped = len(set(visible_files(path)) - used)
    files = "file" if skipped == 1 else "files"
    return (
        f"{path}: {len(used):,} images of {len(train):,} classes, {len(_files(train)):,} to train on and "
        f"{len(_files(test)):,} to test on" + (f"; skipped {skipped:,} other {files}" if skipped else "")
    )


def _files(classes: Classes) -> list[Path]:
    return [path for files in classes.values() for path in files]


def _read_set(classes: Classes, size: int, decoded: _Counter) -> ImageSet:
    labels = np.repeat(np.arange(len(classes), dtype=np.int64), [len(files) for files in classes.values()])
    images = np.empty((len(labels), size, size, 3), np.uint8)
    with closing(read_photos(_files(classes), size, with_whole=False)) as photos:
        for i, photo in enumerate(photos):
            if isinstance(photo, UserError):
                raise photo
            images[i] = photo.view
            decoded.add(1)
    return ImageSet(images, labels)
