"""Image data sets as Hugging Face ships them: parquet files with a row for each image.

DIR/train-*.parquet or DIR/train/*.parquet, also in a folder below, and perhaps test and validation. A column
has the images, as {bytes, path}, and another the labels: text, or numbers whose names are in the metadata
named 'huggingface'. A lossless image that already has the image size keeps every pixel.
"""

import io
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.data.dataset import Counter, Dataset, Note, check_kept
from tinyvit.data.folder import judge
from tinyvit.data.folder_files import digest_of
from tinyvit.data.image_files import files_below
from tinyvit.data.parts import (
    NAMES,
    PURPOSES,
    Given,
    dataset_of,
    first_word,
    holds_parts,
    is_missing,
    listed,
    numbered,
    part_called,
    part_said,
    splits,
)
from tinyvit.data.photos import Photo, read_photos, what_was_cropped
from tinyvit.support.errors import UserError, class_name
from tinyvit.support.files import parse_json

_ROWS = 200  # read at a time
_MOST_SHARDS = 99_999  # shards are numbered with five digits
_UNLABELLED = "it has no label"
_NUMBER = re.compile(r"[-_.]?(\d+)(-of-(\d+))?(-[0-9a-f]{16})?$")  # at the end of the name of a file
_IMAGES = ("image", "img")
_LABELS = ("label", "labels", "fine_label", "class", "target")


def load_parquet(
    path: Path,
    image_size: int,
    seed: int,
    decoding: Counter,
    note: Note,
    strict: bool,
    only: str | None,
    fit: str | None,
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
    root, parts = _files_of_parts(path, note, strict)
    given: dict[str, Given] = {}
    errors: dict[str, list[str]] = defaultdict(list)  # the images, by what is wrong with them
    left_out: dict[str, str] = {}
    lost: list[tuple[float, Path]] = []
    done = 0
    try:
        shards = {
            part: [_Shard(file.relative_to(root).as_posix(), pq.ParquetFile(file), part) for file in files]
            for part, files in parts.items()
        }
        classes = _class_names(shards, note)
        if classes:
            check_kept(path.resolve().name, only, classes)
        labels = {part: list(chain(*(shard.labels for shard in each))) for part, each in shards.items()}
        known = {part: [label for label in these if label is not None] for part, these in labels.items()}
        numbered(path, {part: np.array(these) for part, these in known.items() if these}, classes)
        whole = sum(map(len, labels.values()))
        for part, each in shards.items():
            views, found, names = [], [], []
            for name, label, photo in chain(*(shard.rows(image_size, fit) for shard in each)):
                done += 1
                decoding(done, whole)
                if isinstance(photo, Photo):
                    views.append(photo.view)
                    lost.append((photo.lost, Path(name)))
                    found.append(label)
                    names.append(name)
                else:
                    left_out[name] = photo
                    if photo != _UNLABELLED:
                        errors[photo].append(name)
            if views:
                given[part] = np.stack(views), np.array(found), tuple(names)
    except (UserError, BrokenPipeError):  # the latter: the reader of what is decoded has gone
        raise
    except Exception as error:  # pyarrow's readers raise all kinds of exceptions on damaged files
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"the parquet files in {path} cannot be read ({reason}): download them again."
        ) from error
    for line in what_was_cropped(lost):
        note(line)
    if errors:
        lines = [f"{listed(names)}: {why}" for why, names in errors.items()]
        judge(path, whole, sum(map(len, errors.values())), lines, note, strict)
    if unlabelled := sum(why == _UNLABELLED for why in left_out.values()):
        note(f"left out {unlabelled:,} images without a label")
    dataset = dataset_of(path, given, classes, seed, digest_of(path, chain(*parts.values())), note)
    dataset.left_out.update(left_out)
    return dataset


def _files_of_parts(path: Path, note: Note, strict: bool) -> tuple[Path, dict[str, list[Path]]]:
    """The folder of the data set, and the files of each part, which begin with its name or are in its folder.

    Raises UserError if there are several such folders, or, if strict, if a file is missing.
    """
    found: dict[Path, dict[str, list[Path]]] = defaultdict(lambda: {part: [] for part in NAMES})
    others = []
    for file in (file for file in files_below(path).others if file.suffix == ".parquet"):
        if part := part_called(first_word(file.name)):
            found[file.parent][part].append(file)
        elif part := part_called(file.parent.name):
            found[file.parent.parent][part].append(file)
        else:
            others.append(str(file.relative_to(path)))
    if len(found) != 1 or not next(iter(found.values()))["train"]:
        has = f"such files in {listed(map(str, found))}" if len(found) > 1 else "no such files"
        raise UserError(
            f"{path} has {has}, expected train-*.parquet, or train/*.parquet, in one folder: name it with "
            "--data-dir."
        )
    if others:
        note(f"left out {listed(others)}: not named train, validation or test")
    ((root, parts),) = found.items()
    parts = {part: files for part, files in parts.items() if files}
    for part, files in parts.items():
        if missing := _missing(root, part, files):
            if strict:
                raise UserError(f"{missing}, which --strict does not allow: download the rest.")
            note(missing)
    return root, parts


def _missing(root: Path, part: str, files: list[Path]) -> str:
    """A sentence about the files of a part that are missing, by their numbers; '' if none is.

    Raises UserError if the files do not belong together.
    """
    series: dict[str, set[int]] = defaultdict(set)  # the numbers of files, by what their names share
    for file in files:
        number = _NUMBER.search(file.stem)
        start = file.stem[: number.start()] if number else file.stem
        series[f"{start}{number[2] or '' if number else ''}"].add(int(number[1]) if number else 0)
    if len(series) > 1:
        raise UserError(
            f"{root} has several kinds of files {PURPOSES[part]}, {listed(sorted(series))}, expected one: "
            "move the others elsewhere."
        )
    ((name, numbers),) = series.items()
    total = re.search(r"-of-(\d+)$", name)
    if max(numbers) > _MOST_SHARDS or (total and int(total[1]) > _MOST_SHARDS):
        return ""  # dates, or numbers that mean something else
    expected = range(int(total[1])) if total else range(min(numbers), max(numbers) + 1)
    lacking = [f"{number:05}" for number in expected if number not in numbers]
    there = f"{len(numbers):,} of {len(expected):,} files {PURPOSES[part]}"
    return f"{root} has only {there}, without {listed(lacking)}" if lacking else ""


def _class_names(shards: dict[str, list["_Shard"]], note: Note) -> tuple[str, ...]:
    """The names of the classes of all files, whatever their order in each."""
    train = shards["train"]
    names = tuple(dict.fromkeys(chain(*(shard.classes for shard in train))))
    everything = list(chain(*shards.values()))
    unnamed = [shard.name for shard in everything if shard.kind is int and not shard.classes]
    if unnamed and any(shard.classes or shard.kind is str for shard in everything):
        raise UserError(
            f"{unnamed[0]} has numbers for labels and no names of classes, which other files have: save all "
            "files alike."
        )
    if others := [shard.name for shard in everything if shard.classes and shard.classes != train[0].classes]:
        note(f"the names of the classes differ from file to file, in {listed(others)}: labels go by name")
    return names


class _Shard:
    """A parquet file of one part: its name, the names of its classes if it has any, its labels, and its rows.

    Labels are names where the file has names, and None where there is none.
    """

    def __init__(self, name: str, opened: Any, part: str):
        self.name, self._opened = name, opened
        columns = {field.name: field.type for field in opened.schema_arrow}
        self._image = next((name for name in _IMAGES if name in columns), "")
        label = next((name for name in _LABELS if name in columns), "")
        if not self._image or not label:
            raise UserError(
                f"{name} has the columns {', '.join(map(repr, columns))}, expected one called "
                f"{' or '.join(_IMAGES)}, and one called {', '.join(_LABELS)}."
            )
        _check_images(name, self._image, columns[self._image])
        is_text = import_module("pyarrow").types.is_string
        for column, kind in columns.items():
            if column in (self._image, label) or not (splits(column) or part_called(column) or is_text(kind)):
                continue
            said = {str(cell) for cell in self._column(column)}
            is_split = splits(column) or holds_parts(column, said)
            if is_split and {part_said(column, each) for each in said} != {part}:
                raise UserError(
                    f"{name} has a column {column!r} that splits it, but its name says that all of it is "
                    f"{PURPOSES[part]}: save each part to files of its own."
                )
        self.classes = _names_of_classes(opened.schema_arrow, label)
        cells = self._column(label)
        self.kind = next((type(cell) for cell in cells if cell is not None), None)
        if self.kind not in (int, str, None):
            raise UserError(f"{name} has {label!r} of {self.kind.__name__}, expected whole numbers or text.")
        self.labels = [self._label(cell) for cell in cells]

    def _column(self, name: str) -> list[Any]:
        return self._opened.read(columns=[name]).column(0).to_pylist()

    def _label(self, cell: Any) -> Any:
        if cell is None or cell == -1 or (isinstance(cell, str) and is_missing(cell)):
            return None
        if not (self.kind is int and self.classes):
            return cell
        if not 0 <= cell < len(self.classes):
            raise UserError(f"{self.name} has the label {cell}, expected 0 to {len(self.classes) - 1}.")
        return self.classes[cell]

    def rows(self, image_size: int, fit: str | None) -> Iterator[tuple[str, Any, Photo | str]]:
        """A name, the label and the image of each row, or why it has none."""
        first = 0
        for batch in self._opened.iter_batches(_ROWS, columns=[self._image]):
            cells = [
                cell if isinstance(cell, dict) else {"bytes": cell} for cell in batch.column(0).to_pylist()
            ]
            labels = self.labels[first : first + len(cells)]
            lacks = [_lacking(cell, label) for cell, label in zip(cells, labels, strict=True)]
            sources = [io.BytesIO(cell["bytes"]) for cell, why in zip(cells, lacks, strict=True) if not why]
            with closing(read_photos(sources, image_size, fit, with_whole=False)) as photos:
                for i, (label, why) in enumerate(zip(labels, lacks, strict=True), first):
                    photo = why or next(photos)
                    if isinstance(photo, UserError):
                        photo = f"it {str(photo).removeprefix('the image ').partition(';')[0]}"
                    yield f"{self.name} row {i}", label, photo
            first += len(cells)


def _lacking(cell: dict[str, Any], label: Any) -> str:
    """The reason why a row has no image to use; empty if it has one."""
    if label is None:
        return _UNLABELLED
    if cell.get("bytes"):
        return ""
    if cell.get("path"):
        return "it is the path of an image, expected its bytes: embed the images"
    return "it has no image"


def _check_images(name: str, column: str, kind: Any) -> None:
    """Raise UserError unless a column has the bytes of image files, alone or with a path."""
    types = import_module("pyarrow").types
    place = kind.get_field_index("bytes") if types.is_struct(kind) else -1
    content = kind.field(place).type if place >= 0 else kind
    if not (types.is_binary(content) or types.is_large_binary(content)):
        raise UserError(
            f"{name} has {column!r} of type {kind}, expected the bytes of image files: save it again with "
            "the library datasets, which calls such a column Image."
        )


def _names_of_classes(schema: Any, label: str) -> tuple[str, ...]:
    """The names of the classes in a file's metadata, if there are any."""
    try:
        features = parse_json((schema.metadata or {})[b"huggingface"].decode())["info"]["features"]
        return tuple(class_name(str(name)) for name in features[label]["names"])
    except (KeyError, ValueError, TypeError):
        return ()
