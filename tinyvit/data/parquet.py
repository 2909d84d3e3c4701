"""Image data sets as Hugging Face ships them: parquet files with a row for each image.

DIR/train-*.parquet, also in a folder below, and perhaps test-* and validation-*. A column has the images, as
{bytes, path}, and another the labels: text, or numbers whose names are in the metadata named 'huggingface'.
A lossless image that already has the image size keeps every pixel.
"""

import io
import re
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.data.dataset import Counter, Dataset, Note, check_kept
from tinyvit.data.folder import judge
from tinyvit.data.folder_files import digest_of
from tinyvit.data.parts import NAMES, Given, dataset_of, part_called
from tinyvit.data.photos import Photo, read_photos, what_was_cropped
from tinyvit.errors import UserError
from tinyvit.files.reading import parse_json

_ROWS = 200  # read at a time
_UNLABELLED = "it has no label"
_IMAGES = ("image", "img")
_LABELS = ("label", "labels", "fine_label", "class", "target")


def load_parquet(
    path: Path,
    image_size: int,
    seed: int,
    decoding: Counter | None = None,
    note: Note | None = None,
    strict: bool = False,
    only: str | None = None,
    fit: str | None = None,
) -> Dataset:
    """The data set in the parquet files in path or below: images (n, image_size, image_size, 3).

    Images without a label are left out, as are a few that cannot be read; strict refuses these. only and fit
    are as in folder.load_folder, but classes are only known at once if the metadata name them. Raises
    UserError if there are no such files, if one is damaged, or if pyarrow is not installed.
    """
    try:
        pq = import_module("pyarrow.parquet")
    except ImportError:
        raise UserError("--dataset parquet needs pyarrow: python -m pip install pyarrow.") from None
    parts = _files_of_parts(path)
    files = [file for named in parts.values() for file in named]
    try:
        opened = {file: pq.ParquetFile(file) for file in files}
        columns, classes = _columns(files[0], opened[files[0]].schema_arrow)
        if classes:
            check_kept(path.resolve().name, only, classes)
        whole = sum(each.metadata.num_rows for each in opened.values())
        given: dict[str, Given] = {}
        errors: list[str] = []
        left_out: dict[str, str] = {}
        lost: list[tuple[float, Path]] = []
        done = 0
        for part, named in parts.items():
            views, labels, names = [], [], []
            for name, what, photo in (
                row for file in named for row in _rows(file, opened[file], *columns, image_size, fit)
            ):
                done += 1
                if decoding:
                    decoding(done, whole)
                if what is None or what == -1:
                    left_out[name] = _UNLABELLED
                elif isinstance(photo, UserError):
                    errors.append(str(photo))
                    left_out[name] = str(photo)
                else:
                    views.append(photo.view)
                    lost.append((photo.lost, photo.path))
                    labels.append(what)
                    names.append(name)
            if views:
                given[part] = np.stack(views), np.array(labels), tuple(names)
                if given[part][1].ndim > 1 or given[part][1].dtype.kind not in "iuU":
                    kind = type(labels[0]).__name__
                    raise UserError(f"{path} has {columns[1]!r} of {kind}, expected whole numbers or text.")
    except (UserError, BrokenPipeError):  # the latter: decoding has nobody to tell any more
        raise
    except Exception as error:  # pyarrow's readers raise all kinds of exceptions on damaged files
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"the parquet files in {path} cannot be read ({reason}): download them again."
        ) from error
    note = note or (lambda line: None)
    for line in what_was_cropped(lost):
        note(line)
    if errors:
        judge(path, whole, errors, note, strict)
    if unlabelled := sum(why == _UNLABELLED for why in left_out.values()):
        note(f"left out {unlabelled:,} images without a label")
    found = dataset_of(path, given, classes, seed, digest_of(path, files), note)
    found.left_out.update(left_out)
    return found


def _files_of_parts(path: Path) -> dict[str, list[Path]]:
    """The files of each part, which their names begin with."""
    parts: dict[str, list[Path]] = {part: [] for part in NAMES}
    for file in sorted(path.rglob("*.parquet")):
        if part := part_called(re.split(r"[^A-Za-z]", file.name)[0]):
            parts[part].append(file)
    folders = sorted({str(file.parent) for files in parts.values() for file in files})
    if not parts["train"] or len(folders) > 1:
        has = f"such files in {', '.join(folders[:5])}" if parts["train"] else "no such files"
        raise UserError(f"{path} has {has}, expected train-*.parquet in one folder: name it with --data-dir.")
    return {part: files for part, files in parts.items() if files}


def _columns(file: Path, schema: Any) -> tuple[tuple[str, str], list[str]]:
    """The columns of the images and of the labels, and the names of the classes, if there are any."""
    try:
        features = parse_json((schema.metadata or {})[b"huggingface"].decode())["info"]["features"]
    except (KeyError, ValueError, TypeError):
        features = {}
    columns = {field.name: field.type for field in schema}
    image = next((name for name in _IMAGES if name in columns), "")
    label = next((name for name in _LABELS if name in columns), "")
    if not image or not label:
        raise UserError(
            f"{file} has the columns {', '.join(map(repr, columns))}, expected one called "
            f"{' or '.join(_IMAGES)}, and one called {', '.join(_LABELS)}."
        )
    names = features.get(label, {}).get("names") if isinstance(features, dict) else None
    return (image, label), list(map(str, names or []))


def _rows(
    file: Path, opened: Any, image: str, label: str, image_size: int, fit: str | None
) -> Iterator[tuple[str, Any, Photo | UserError]]:
    """A name, the label and the image of each row."""
    first = 0
    for batch in opened.iter_batches(_ROWS, columns=[image, label]):
        names = [f"{file.name} row {first + i}" for i in range(len(batch))]
        sources = map(_source, names, batch.column(image).to_pylist())
        with closing(read_photos(sources, image_size, fit, with_whole=False)) as photos:
            yield from zip(names, batch.column(label).to_pylist(), photos, strict=True)
        first += len(batch)


def _source(name: str, cell: Any) -> io.BytesIO:
    """The bytes of an image, called by that name."""
    content = cell.get("bytes") if isinstance(cell, dict) else cell
    source = io.BytesIO(content if isinstance(content, bytes) else b"")
    source.name = name
    return source
