"""A table of image files and their labels, the way Kaggle ships photos: CSV or TSV, with or without a header.

Two of its columns are used: the file, whose name may lack its ending, and may begin with folders; and the
label, as text. Two columns without known names are these two, in this order. A further column may split the
images into parts: by train, val and test or, in one called is_valid, by True and False.
"""

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tinyvit.data.dataset import PURPOSES
from tinyvit.data.folder_files import Classes, Found, composed, name_below
from tinyvit.data.image_files import files_below
from tinyvit.data.parts import (
    NAMES,
    doubtful,
    holds_parts,
    is_missing,
    part_said,
    split_classes,
    splits,
    with_test,
)
from tinyvit.support.errors import UserError, class_name
from tinyvit.support.files import read_text

_MOST = 1 << 28  # bytes of a table
_SEVERAL = "several files have this name"
_SAMPLE = 100  # rows by which delimiters and columns are judged
_FILE = ("image", "file", "filename", "path")
_LABEL = ("label", "class", "target", "category")
_EXPECTED = f"one called {', '.join(_FILE)} or id, and one called {', '.join(_LABEL)}"

Find = Callable[[str], list[Path]]  # returns the images that a name in a table may mean


class Columns(NamedTuple):
    """The columns of the files, of the labels and, if the table is split, of the parts."""

    file: int
    label: int
    part: int | None
    has_header: bool


def find_listed(path: Path, table: Path, seed: int) -> Found:
    """The images below path that a table lists, by its labels, in the parts that it splits them into.

    If it does not, a fifth of each class is held out for testing. Names in the table are relative to path or
    to the folder of the table. Files that are missing, and images that are not listed, are left out. Raises
    UserError if the table cannot be used, contradicts itself, or lists fewer than two classes.
    """
    below = files_below(path)
    find = _finder(path, table, below.images)
    rows = _rows(table, find)
    columns = _columns(table, rows, find)
    listed, left_out = _matched(path, table, rows, columns, find)
    if left_out and not listed:
        name, why = next(iter(left_out.items()))
        raise _not_there(path, table, name_below(path, name), why, below.images)
    classes = sorted({label for label, part in listed.values() if part == "train"})
    if len(classes) < 2:
        has = f"only the class {classes[0]!r}" if classes else "no images to train on"
        raise UserError(f"{table} lists {has}, expected several images of at least two classes.")
    parts: dict[str, Classes] = {part: {name: [] for name in classes} for part in NAMES}
    for file, (label, part) in sorted(listed.items()):
        if label in classes:
            parts[part][label].append(file)
        else:
            left_out[file] = "its class has no images to train on"
    parts = with_test({part: files for part, files in parts.items() if any(files.values())})
    is_drawn = parts.keys() == {"train"}
    if is_drawn:
        parts = split_classes(table, parts["train"], seed)
    others = [file for file in below.images if file not in listed and file not in left_out]
    left_out |= below.unusable | dict.fromkeys(others, "it is not in the table")
    notes = doubtful(classes)
    if columns.has_header and len(rows[0]) > 2:
        used = ", ".join(repr(rows[0][i]) for i in columns[:3] if i is not None)
        notes.append(f"of the {len(rows[0])} columns of {table}, these are used: {used}")
    return Found(path, tuple(classes), parts, notes, left_out, has_table=True, is_drawn=is_drawn)


def _matched(
    path: Path, table: Path, rows: list[list[str]], columns: Columns, find: Find
) -> tuple[dict[Path, tuple[str, str]], dict[Path, str]]:
    """The label and the part of each image that a table lists, and a reason for what is left out of it."""
    listed: dict[Path, tuple[str, str]] = {}
    left_out: dict[Path, str] = {}
    for row in rows[columns.has_header :]:
        name, label = row[columns.file], class_name(row[columns.label])
        part = _part(table, rows[0], row, columns.part)
        files = find(name)
        if len(files) != 1:
            why = _SEVERAL if files else "it is in the table, but not in the folder"
            left_out[path / name] = why
        elif is_missing(label):
            left_out[files[0]] = "it has no label in the table"
        elif (before := listed.setdefault(files[0], (label, part))) != (label, part):
            both = f"as {before[0]!r} and as {label!r}, expected one label"
            if label == before[0]:
                both = f"{PURPOSES[before[1]]} and {PURPOSES[part]}, expected one of these"
            raise UserError(f"{table} lists {name} {both}: correct the table.")
    return listed, left_out


def _finder(path: Path, table: Path, images: Iterable[Path]) -> Find:
    """A function that returns the images below path which a name in the table may mean."""
    by_name: dict[str, list[Path]] = {}
    shortened: dict[str, list[Path]] = {}
    for file in images:
        below = composed(file.relative_to(path).as_posix())
        by_name.setdefault(below, []).append(file)
        shortened.setdefault(os.path.splitext(below)[0], []).append(file)
    by_name = shortened | by_name  # a whole name means its own file, even if a.jpg.webp lies beside a.jpg
    bases = os.path.abspath(path), os.path.abspath(table.parent)
    roots = {composed(root.rstrip(os.sep) + os.sep) for root in (bases[0], os.path.realpath(path))}

    def find(name: str) -> list[Path]:
        name = composed(name.replace("\\", "/"))
        wholes = [composed(os.path.normpath(os.path.join(base, name))) for base in bases]
        spellings = [whole.removeprefix(root) for whole in wholes for root in roots if whole.startswith(root)]
        return next((by_name[each] for each in spellings if each in by_name), [])

    return find


def _not_there(path: Path, table: Path, name: str, why: str, images: Iterable[Path]) -> UserError:
    """The error for a table that lists nothing that is there; it names an image of that name elsewhere."""
    if why == _SEVERAL:
        return UserError(f"{table} lists {name!r}, but {why}: give names with their endings.")
    last = Path(name).name
    near = next((file for file in images if last in (file.name, file.stem)), None)
    return UserError(
        f"{table} lists {name!r}, but no image in {path} is called that{f', only {near}' if near else ''}: "
        "names have to be relative to --data-dir, or to the folder of the table."
    )


def _rows(table: Path, find: Find) -> list[list[str]]:
    """The rows of a table that are not empty, cut at the delimiter that leaves most names of files whole."""
    try:
        text = read_text(table, _MOST).removeprefix("\ufeff")

        def read(delimiter: str) -> Iterator[list[str]]:
            for row in csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True):
                if any(cells := [cell.strip() for cell in row]):
                    yield cells

        def fit(delimiter: str) -> tuple[int, int]:
            sample = list(islice(read(delimiter), _SAMPLE))
            return sum(any(map(find, row)) for row in sample), len(sample[0]) if sample else 0

        rows = list(read(max("\t,;", key=fit)))
    except FileNotFoundError:
        raise UserError(f"there is no file {table}, expected a table of images and labels.") from None
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"{table} cannot be read as a table ({error}): save it as CSV in UTF-8.") from error
    if not rows:
        raise UserError(f"{table} is empty, expected a row with a file and a label for each image.")
    if odd := next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), 0):
        raise UserError(
            f"{table} has {len(rows[odd])} columns in row {odd + 1}, expected {len(rows[0])} as in the "
            "first: correct the table."
        )
    return rows


def _columns(table: Path, rows: list[list[str]], find: Find) -> Columns:
    """The columns to use, by what they are called and by the images that are named in them."""
    part = _split_column(table, rows)
    first, rest = rows[0], [i for i in range(len(rows[0])) if i != part]
    found = {i: sum(bool(find(row[i])) for row in rows[1 : 1 + _SAMPLE]) for i in rest}  # images of a column
    files = [(-found[i], min(2 * _rank(first[i], _FILE), 2 * _rank(first[i], ("id",)) + 1), i) for i in rest]
    labels = [(_rank(first[i], _LABEL), i) for i in rest]
    file, label = _only(each for each in files if each[1] < 4), _only(each for each in labels if each[0] < 2)
    if len(rest) == 2 and (file == label or any(find(first[i]) for i in rest)):
        return Columns(rest[0], rest[1], part, False)
    if len(rest) == 2:
        file = rest[rest[0] == label] if file is None else file
        label = rest[rest[0] == file]
    if file is not None and label is not None and file != label:
        return Columns(file, label, part, True)
    raise UserError(
        f"{table} has the columns {', '.join(map(repr, first[:20]))}, expected two, or {_EXPECTED}: rename "
        "them."
    )


def _rank(cell: str, names: tuple[str, ...]) -> int:
    """0 if a column is called one of the names, 1 if one of them is among its words, otherwise 2."""
    cell = cell.lower()
    words = cell.replace(" ", "_").split("_") if re.fullmatch("[a-z_ ]+", cell) else ()
    return 0 if cell in names else 1 if set(words) & set(names) else 2


def _only(candidates: Iterable[tuple[int, ...]]) -> int | None:
    """The column of the smallest candidate, which it ends with; None if another is as good."""
    best = sorted(candidates)
    return best[0][-1] if best and [each[:-1] for each in best].count(best[0][:-1]) == 1 else None


def _split_column(table: Path, rows: list[list[str]]) -> int | None:
    """The column that splits the images into parts, by its name or by what is in it."""
    first = rows[0]
    if len(first) < 3:
        return None
    matches = [
        i for i, cell in enumerate(first) if splits(cell) or holds_parts(cell, {row[i] for row in rows[1:]})
    ]
    if len(matches) > 1:
        raise UserError(
            f"{table} has the columns {', '.join(repr(first[i]) for i in matches)}, expected one that says "
            "which images to train on: remove the others."
        )
    return matches[0] if matches else None


def _part(table: Path, header: list[str], row: list[str], split: int | None) -> str:
    """The part of a row; of a table that is not split, all are to train on."""
    if split is None:
        return "train"
    if part := part_said(header[split], row[split]):
        return part
    raise UserError(
        f"{table} has {row[split]!r} in its column {header[split]!r}, expected train, val or test or, in one "
        "called is_valid, True or False: correct it or, to have a fifth of each class held out for testing, "
        "remove the column."
    )
