"""Images of any size and any format that Pillow reads, in one folder for each class."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from math import prod
from pathlib import Path

import numpy as np

from tinyvit.cores import available_memory
from tinyvit.data.dataset import Counter, Dataset, ImageSet, Note, check_kept, class_counts
from tinyvit.data.folder_files import Found, find_images, name_below
from tinyvit.data.label_table import find_listed
from tinyvit.data.photo_cache import PhotoCache
from tinyvit.data.photos import read_photos, what_was_cropped
from tinyvit.data.rows import Rows
from tinyvit.errors import UserError

MOST_BAD = 0.2  # of the files, that cannot be read and are left out
_MOST_IN_MEMORY = 0.25  # of all memory, that decoded photos may take up
LONG = 5.0  # seconds of decoding, after which the photos are kept for the next run
_SHOWN = 20  # files that cannot be read, with their reasons


def load_folder(
    path: Path,
    image_size: int,
    seed: int,
    decoding: Counter | None = None,
    note: Note | None = None,
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
    are used and what their classes are (see data.label_table), wherever they are below path. recorded has the
    part of each image in an earlier run, by its name: see Found.split_as.

    only names classes, separated by commas: they are checked before anything is decoded. fit is how photos
    are fitted, one of photo_fit.FITS, 'crop' by default.

    note receives lines: how many images of how many classes were found, and what was left out. decoding(done,
    total) is called before the first image is decoded and after each one.

    Raises UserError if path is not such a folder, if it has fewer than two classes, or if more than MOST_BAD
    of the files (with strict: a single one) are damaged.
    """
    found = find_listed(path, table, seed) if table else find_images(path, seed)
    check_kept(path.resolve().name, only, found.classes)
    note, digest = note or (lambda line: None), found.digest()
    if recorded:
        found.split_as(recorded)
    for line in found.lines():
        note(line)
    images, errors = _decoded(found, image_size, decoding or (lambda done, total: None), note, fit)
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
    found: Found, size: int, decoding: Counter, note: Note, fit: str | None
) -> tuple[np.ndarray | Rows, dict[Path, str]]:
    """The images of the files that can be read, in order, and why the others cannot.

    If they would take up too much of the memory, they stay on the disk.
    """
    files, start = found.files, time.monotonic()
    cache = PhotoCache(found.path, files, size, fit)
    is_large = prod(cache.shape) > _MOST_IN_MEMORY * (available_memory() or math.inf)
    kept = cache.read()
    if kept:
        note(f"the decoded photos are those of an earlier run, in {cache.path}")
    elif is_large:
        kept = _decoded_onto_disk(cache, size, decoding, note, fit)
    if kept:
        images, errors = kept
        place = {file: i for i, file in enumerate(cache.files)}
        rows = Rows(images, [place[file] for file in files if file not in errors])
        return rows if is_large else np.asarray(rows), errors
    images, errors = np.empty((len(files), size, size, 3), np.uint8), {}
    lost: list[tuple[float, Path]] = []
    decoding(0, len(files))
    with closing(read_photos(files, size, fit, with_whole=False)) as photos:
        for done, (file, photo) in enumerate(zip(files, photos, strict=True)):
            if isinstance(photo, UserError):
                errors[file] = str(photo)
            else:
                images[done - len(errors)] = photo.view
                lost.append((photo.lost, file))
            decoding(done + 1, len(files))
    for line in what_was_cropped(lost):
        note(line)
    good = [file for file in files if file not in errors]
    images = images[: len(good)]
    found_photos: dict[Path, np.ndarray | str] = dict(zip(good, images, strict=True)) | errors
    if time.monotonic() - start > LONG and cache.write(found_photos[file] for file in cache.files):
        note(f"the decoded photos are kept for the next run: {images.nbytes / 1e6:,.0f} MB in {cache.path}")
    return images, errors


def _decoded_onto_disk(
    cache: PhotoCache, size: int, decoding: Counter, note: Note, fit: str | None
) -> tuple[np.ndarray, dict[Path, str]]:
    """The photos of a cache, mapped from the disk, decoded one after another; and why some are missing."""
    gigabytes = f"{prod(cache.shape) / 1e9:,.1f} GB"
    note(f"the photos take {gigabytes}, too much for the memory: they stay on the disk, in {cache.path}")

    lost: list[tuple[float, Path]] = []

    def views() -> Iterator[np.ndarray | str]:
        with closing(read_photos(cache.files, size, fit, with_whole=False)) as photos:
            for done, photo in enumerate(photos):
                decoding(done, len(cache.files))
                if isinstance(photo, UserError):
                    yield str(photo)
                else:
                    lost.append((photo.lost, photo.path))
                    yield photo.view
        decoding(len(cache.files), len(cache.files))

    kept = cache.read() if cache.write(views()) else None
    for line in what_was_cropped(lost):
        note(line)
    if kept is None:
        raise UserError(
            f"{gigabytes} of decoded photos cannot be written to {cache.path}: make room there, point the "
            "environment variable TINYVIT_CACHE at another folder, or give a smaller --image-size."
        )
    return kept


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
