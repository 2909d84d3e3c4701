"""Images of any size and any format that Pillow reads, in one folder for each class."""

import time
from contextlib import closing
from pathlib import Path

import numpy as np

from tinyvit.data.dataset import Counter, Dataset, ImageSet, Note
from tinyvit.data.folder_files import Found, find_images
from tinyvit.data.label_table import find_listed
from tinyvit.data.photo_cache import PhotoCache
from tinyvit.data.photos import read_photos
from tinyvit.errors import UserError

MOST_BAD = 0.2  # of the files, that cannot be read and are left out
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
) -> Dataset:
    """The images below path as a data set of images (n, image_size, image_size, 3).

    The images are in PATH/train/CLASS and PATH/test/CLASS, perhaps also in PATH/val/CLASS (or valid,
    validation, dev), or in PATH/CLASS; in the latter case a fifth of each class, chosen by the seed, is held
    out for testing. Folders of classes are searched with all that is below them. Names are read in sorted
    order. Files are known as images by their names or their first bytes. With a table, it says which images
    are used and what their classes are (see data.label_table), wherever they are below path.

    note receives lines: how many images of how many classes were found, and what was left out. decoding(done,
    total) is called before the first image is decoded and after each one.

    Raises UserError if path is not such a folder, if it has fewer than two classes, or if more than MOST_BAD
    of the files (with strict: a single one) are damaged.
    """
    found = find_listed(path, table, seed) if table else find_images(path, seed)
    note = note or (lambda line: None)
    for line in found.lines:
        note(line)
    images, errors = _decoded(found, image_size, decoding or (lambda done, total: None), note)
    if errors:
        judge(path, len(found.files), list(errors.values()), note, strict)
    parts, start = {}, 0
    for part, classes in found.parts.items():
        good = [(c, file) for c, files in enumerate(classes.values()) for file in files if file not in errors]
        labels = np.array([c for c, _ in good], np.int64)
        names = tuple(str(file.relative_to(path)) for _, file in good)
        parts[part] = ImageSet(images[start : start + len(labels)], labels, names)
        start += len(labels)
    _check_enough(found, parts)
    left_out = found.left_out | errors
    return Dataset(
        path.resolve().name,
        found.classes,
        **parts,
        files=found.digest(),
        left_out={str(file.relative_to(path)): reason for file, reason in sorted(left_out.items())},
    )


def _decoded(found: Found, size: int, decoding: Counter, note: Note) -> tuple[np.ndarray, dict[Path, str]]:
    """The images of the files that can be read, in order, and why the others cannot."""
    files, start = found.files, time.monotonic()
    cache = PhotoCache(found.path, files, size)
    if kept := cache.read():
        images, errors = kept
        place = {file: i for i, file in enumerate(cache.files)}
        note(f"the decoded photos are those of an earlier run, in {cache.path}")
        rows = [place[file] for file in files if file not in errors]
        return np.asarray(images)[rows], errors
    images, errors = np.empty((len(files), size, size, 3), np.uint8), {}
    decoding(0, len(files))
    with closing(read_photos(files, size, with_whole=False)) as photos:
        for done, (file, photo) in enumerate(zip(files, photos, strict=True)):
            if isinstance(photo, UserError):
                errors[file] = str(photo)
            else:
                images[done - len(errors)] = photo.view
            decoding(done + 1, len(files))
    good = [file for file in files if file not in errors]
    images = images[: len(good)]
    if time.monotonic() - start > LONG and cache.write(images, good, errors):
        note(f"the decoded photos are kept for the next run: {images.nbytes / 1e6:,.0f} MB in {cache.path}")
    return images, errors


def judge(path: Path, count: int, errors: list[str], note: Note, strict: bool) -> None:
    """Say which of so many images below path cannot be read. Raises UserError if they are too many."""
    bad = len(errors)
    lines = [f"  {reason}" for reason in errors[:_SHOWN]]
    if bad > _SHOWN:
        lines.append(f"  and {bad - _SHOWN:,} more")
    what = f"{bad:,} of {count:,} images in {path}"
    if strict or bad > MOST_BAD * count:
        why = "which --strict does not allow" if strict else f"more than {MOST_BAD:.0%} of them"
        raise UserError(f"{what} cannot be read, {why}: remove or replace these files.", *lines)
    note(f"left out {what}, which cannot be read:")
    for line in lines:
        note(line)


def _check_enough(found: Found, parts: dict[str, ImageSet]) -> None:
    """Raise UserError if a class has nothing to train on, or a part has no images at all."""
    counts = np.bincount(parts["train"].labels, minlength=len(found.classes))
    if not counts.all():
        name = found.classes[int(counts.argmin())]
        raise UserError(f"no image of {name!r} to train on can be read: replace them, or remove the folder.")
    for part, images in parts.items():
        if not len(images):
            raise UserError(
                f"{found.path} has no images of its {len(found.classes)} classes for {part}: add some, or "
                "remove that folder."
            )
