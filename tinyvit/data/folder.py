"""Images of any size and any format that Pillow reads, in one folder for each class.

load_folder reads a data set to train on, read_labelled images to judge a model on that has those classes.

Decoded photos are kept for the next run, in the folder for what can be made again. A folder of photos has one
entry there for each size and fit, valid while the names, sizes and times of its files stay:

FOLDER-STAMP.npy    the photos, uint8 (n, size, size, 3), in the order of the files' names
FOLDER-STAMP.json   which of them could not be read, and why; written last
"""

import hashlib
import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import PIL

from tinyvit.data.dataset import Counter, Dataset, ImageSet, Note, Rows, check_kept, class_counts
from tinyvit.data.folder_files import (
    Found,
    beside_classes,
    find_images,
    folders_of_parts,
    images_by_class,
    name_below,
)
from tinyvit.data.image_files import files_below, readable_formats
from tinyvit.data.label_table import find_listed
from tinyvit.data.photos import PhotoFit, read_photos, what_was_cropped
from tinyvit.support.cores import available_memory
from tinyvit.support.errors import UserError, nearest
from tinyvit.support.files import cache_folder, read_json
from tinyvit.support.files.atomic import write_atomically

MOST_BAD = 0.2  # of the files, that cannot be read and are left out
LONG = 5.0  # seconds of decoding, after which the photos are kept for the next run
_MOST_IN_MEMORY = 0.25  # of all memory, that decoded photos may take up
_SHOWN = 20  # files that cannot be read, with their reasons
_WAY = 1  # to be raised whenever photos become other pixels


def load_folder(
    path: Path,
    image_size: int,
    seed: int,
    decoding: Counter = lambda done, total: None,
    note: Note = lambda line: None,
    strict: bool = False,
    table: Path | None = None,
    recorded: Mapping[str, str] | None = None,
    only: str | None = None,
    fit: str | None = None,
) -> Dataset:
    """The images below path as a data set of images (n, image_size, image_size, 3).

    The images are in PATH/train/CLASS and PATH/test/CLASS, perhaps also in PATH/val/CLASS (or valid,
    validation, dev), or in PATH/CLASS; in the latter case a fifth of each class, chosen by the seed, is held
    out for testing. Folders of classes are searched with all that is below them. Names are read in sorted
    order. Files are known as images by their names or their first bytes. With a table, it says which images
    are used and what their classes are (see data.label_table), wherever they are below path. What else can be
    given, and what is reported, is as in load_dataset; decoding(0, total) is called before the first image.

    Raises UserError if path is not such a folder, if it has fewer than two classes, or if more than MOST_BAD
    of the files (with strict: a single one) are damaged.
    """
    found = find_listed(path, table, seed) if table else find_images(path, seed)
    check_kept(path.resolve().name, only, found.classes)
    digest = found.digest()
    if recorded:
        found.split_as(recorded)
    for line in found.lines():
        note(line)
    images, errors = _decoded(found, image_size, fit, decoding, note)
    if errors:
        judge(path, len(found.files), len(errors), list(errors.values()), note, strict)
    parts, start = {}, 0
    for part, classes in found.parts.items():
        good = [(c, file) for c, files in enumerate(classes.values()) for file in files if file not in errors]
        labels = np.array([c for c, _ in good], np.int64)
        names = tuple(name_below(path, file) for _, file in good)
        parts[part] = ImageSet(images[start : start + len(labels)], labels, names)
        start += len(labels)
    if not recorded:
        _check_enough(found, parts)
    left_out = found.left_out | errors
    return Dataset(
        path.resolve().name,
        found.classes,
        **parts,
        files=digest,
        left_out={name_below(path, file): reason for file, reason in sorted(left_out.items())},
        drawn=("test",) * found.is_drawn,
    )


def _decoded(
    found: Found, size: int, fit: str | None, decoding: Counter, note: Note
) -> tuple[np.ndarray | Rows, dict[Path, str]]:
    """The images of the files that can be read, in order, and why the others cannot.

    If they would take up too much of the memory, they stay on the disk.
    """
    files, start = found.files, time.monotonic()
    cache = PhotoCache(found.path, files, size, fit)
    is_large = math.prod(cache.shape) > _MOST_IN_MEMORY * (available_memory() or math.inf)
    kept = cache.read()
    if kept:
        note(f"the decoded photos are those of an earlier run, in {cache.path}")
    elif is_large:
        gigabytes = f"{math.prod(cache.shape) / 1e9:,.1f} GB"
        note(f"the photos take {gigabytes}, too much for the memory: they stay on the disk, in {cache.path}")
        kept = cache.read() if cache.write(_views(cache.files, size, fit, decoding, note)) else None
        if kept is None:
            raise UserError(
                f"{gigabytes} of decoded photos cannot be written to {cache.path}: make room there, point "
                "the environment variable TINYVIT_CACHE at another folder, or give a smaller --image-size."
            )
    if kept:
        images, errors = kept
        place = {file: i for i, file in enumerate(cache.files)}
        rows = Rows(images, [place[file] for file in files if file not in errors])
        return rows if is_large else np.asarray(rows), errors
    images, errors = np.empty(cache.shape, np.uint8), {}
    photos: dict[Path, np.ndarray | str] = {}
    for file, view in zip(files, _views(files, size, fit, decoding, note), strict=True):
        if isinstance(view, str):
            photos[file] = errors[file] = view
        else:
            images[len(photos) - len(errors)] = view
            photos[file] = images[len(photos) - len(errors)]
    images = images[: len(files) - len(errors)]
    if time.monotonic() - start > LONG and cache.write(photos[file] for file in cache.files):
        note(f"the decoded photos are kept for the next run: {images.nbytes / 1e6:,.0f} MB in {cache.path}")
    return images, errors


def _views(
    files: Sequence[Path], size: int, fit: str | None, decoding: Counter, note: Note
) -> Iterator[np.ndarray | str]:
    """Each photo as a model sees it, uint8 (size, size, 3), or the reason why it cannot be read."""
    lost: list[tuple[float, Path]] = []
    decoding(0, len(files))
    with closing(read_photos(files, size, fit, with_whole=False)) as photos:
        for done, photo in enumerate(photos, 1):
            if isinstance(photo, UserError):
                yield str(photo)
            else:
                lost.append((photo.lost, photo.path))
                yield photo.view
            decoding(done, len(files))
    for line in what_was_cropped(lost):
        note(line)


class PhotoCache:
    """The decoded photos of some files, cropped or otherwise fitted to size x size pixels."""

    def __init__(self, folder: Path, files: Sequence[Path], size: int, fit: str | None = None):
        self.files = sorted(files)
        self.shape = (len(files), size, size, 3)
        stats = [(str(file.relative_to(folder)), file.stat()) for file in self.files]
        lines = [f"{name} {each.st_size} {each.st_mtime_ns}" for name, each in stats]
        self._folder = _digest(f"{folder.resolve()} {size}{'' if fit in (None, 'crop') else f' {fit}'}")
        readers = f"{_WAY} {PIL.__version__} {' '.join(sorted(readable_formats()))}"  # pillow-heif may come
        self._stamp = _digest("\n".join([readers, *lines]))

    @property
    def path(self) -> Path:
        """The file of the photos. Raises UserError if this user has no folder for it."""
        return cache_folder() / "photos" / f"{self._folder}-{self._stamp}.npy"

    def read(self) -> tuple[np.ndarray, dict[Path, str]] | None:
        """The photos, mapped from the disk in the order of `files`, and why some are missing; or None."""
        try:
            errors = read_json(self.path.with_suffix(".json"))
            images = np.load(self.path, mmap_mode="r", allow_pickle=False)
            if images.shape == self.shape and images.dtype == np.uint8:
                return images, {self.files[int(index)]: str(reason) for index, reason in errors.items()}
        except (OSError, ValueError, LookupError, AttributeError):
            pass  # it is not there, or is damaged: the photos are decoded again
        return None

    def write(self, photos: Iterable[np.ndarray | str]) -> bool:
        """Keep the photos of the files, in their order, or why a file has none; returns whether it could.

        They are written as they come, so that they need not all be in memory.
        """
        header = {"descr": "|u1", "fortran_order": False, "shape": self.shape}
        reasons: dict[int, str] = {}

        def write(file: BinaryIO) -> None:
            np.lib.format.write_array_header_1_0(file, header)
            for i, photo in enumerate(photos):
                if isinstance(photo, str):
                    reasons[i] = photo
                file.write(bytes(math.prod(self.shape[1:])) if isinstance(photo, str) else photo.data)

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for old in self.path.parent.glob(f"{self._folder}-*"):
                old.unlink()
            write_atomically(self.path, write)
            write_atomically(
                self.path.with_suffix(".json"), lambda file: file.write(json.dumps(reasons).encode())
            )
        except (OSError, UserError):
            return False
        return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def judge(path: Path, count: int, bad: int, reasons: list[str], note: Note, strict: bool) -> None:
    """Say how many of the images below path cannot be read, and why. UserError if they are too many."""
    lines = [f"  {reason}" for reason in reasons[:_SHOWN]]
    if len(reasons) > _SHOWN:
        lines.append(f"  and {len(reasons) - _SHOWN:,} more")
    what = f"{bad:,} of {count:,} images in {path}"
    if strict or bad > MOST_BAD * count:
        why = "which --strict does not allow" if strict else f"more than {MOST_BAD:.0%} of them"
        raise UserError(f"{what} cannot be read, {why}: remove or replace these files.", *lines)
    note(f"left out {what}, which cannot be read:")
    for line in lines:
        note(line)


def _check_enough(found: Found, parts: dict[str, ImageSet]) -> None:
    """Raise UserError if a class has nothing to train on, or a part has no images at all."""
    counts = class_counts(parts["train"].labels, len(found.classes))
    if not counts.all():
        name = found.classes[int(counts.argmin())]
        raise UserError(f"no image of {name!r} to train on can be read: replace them, or remove the folder.")
    for part, images in parts.items():
        if not len(images):
            raise UserError(
                f"{found.path} has no images of its {len(found.classes)} classes for {part}: add some, or "
                "remove that folder."
            )


class PhotoArray:
    """Photos as an array (n, H, W, 3) that is decoded where it is indexed, so that few are in memory.

    errors has a message for each photo that could not be read, by its index, once it has been asked for; its
    pixels are zeros. highest, uint8 (n, 1), has the highest value of each that has been read.
    """

    def __init__(self, files: Sequence[Path], size: tuple[int, int], fit: PhotoFit | None):
        self.shape, self.dtype, self.ndim = (len(files), *size, 3), np.dtype(np.uint8), 4
        self.errors: dict[int, str] = {}
        self.highest = np.zeros((len(files), 1), np.uint8)
        self._files, self._fit = files, fit

    def __getitem__(self, key: Any) -> np.ndarray:
        rows = np.atleast_1d(key).tolist()
        views = np.zeros((len(rows), *self.shape[1:]), np.uint8)
        files = (self._files[row] for row in rows)
        with closing(read_photos(files, self.shape[1:3], self._fit, with_whole=False)) as photos:
            for i, (row, photo) in enumerate(zip(rows, photos, strict=True)):
                if isinstance(photo, UserError):
                    self.errors[row] = str(photo)
                else:
                    views[i], self.highest[row] = photo.view, photo.view.max()
        return views if np.ndim(key) else views[0]


def read_labelled(
    path: Path,
    split: str,
    classes: Sequence[str],
    size: tuple[int, int],
    fit: PhotoFit | None,
    note: Note,
) -> tuple[ImageSet, PhotoArray]:
    """The images in the folders below path that are named as the classes of a model; labels go by name.

    split is the part of a folder that is split into parts ('train', 'validation' or 'test'), or 'all'. size
    and fit are how photos are fitted (see photos.read_photos). note receives a line for what is left out.
    Images are decoded when they are used; the array then knows those that cannot be read. Raises UserError if
    path has no such folders, or a folder named as no class.
    """
    if not path.is_dir():
        raise UserError(f"{path} is not a folder, expected one with a folder for each class.")
    folders = folders_of_parts(path)
    if split != "all" and split not in folders:
        raise UserError(f"{path} has no folder of {split} images: choose --split all.")
    wanted = list(folders.values()) if split == "all" else [folders[split]]
    files: list[Path] = []
    labels: list[int] = []
    for folder in wanted:
        below = files_below(folder)
        for name, images in images_by_class(folder, below.images).items():
            if images and name not in classes:
                raise UserError(
                    f"{folder} has a folder {name!r}, but the model has no such class, expected some of "
                    f"{nearest(repr(name), [*map(repr, classes)])}: rename it, or remove it."
                )
            files += images
            labels += [classes.index(name)] * len(images) if images else []
        for file, why in below.unusable.items():
            note(f"left out {file}: {why}")
        if loose := sum(file.parent == folder for file in below.images):
            note(beside_classes(folder, loose))
    if not files:
        raise UserError(f"{path} has no images in folders named by their classes, expected PATH/CLASS/image.")
    photos = PhotoArray(files, size, fit)
    names = tuple(name_below(path, file) for file in files)
    return ImageSet(Rows(photos, range(len(files))), np.array(labels, np.int64), names), photos
