"""A table of image files and their labels, the way Kaggle ships photos: CSV or TSV, with or without a header.

Two of its columns are used: the file, whose name may lack its ending, and may begin with folders; and the
label, as text. Two columns without known names are these two, in this order.
"""

import csv
import io
import re
from collections.abc import Container
from pathlib import Path

from tinyvit.data.folder_files import Classes, Found, listed
from tinyvit.data.image_files import files_below
from tinyvit.data.parts import split_classes, summary
from tinyvit.errors import UserError, printable
from tinyvit.files.reading import read_text

_MOST = 1 << 28  # bytes of a table
_FILE = ("image", "file", "filename", "id", "path")
_LABEL = ("label", "class", "target", "category")
_EXPECTED = f"one called {', '.join(_FILE[:-1])} or {_FILE[-1]}, and one called {', '.join(_LABEL)}"


def find_listed(path: Path, table: Path, seed: int) -> Found:
    """The images below path that a table lists, by its labels; a fifth of each class is held out for testing.

    Names in the table are relative to path. Files that are missing, and images that are not listed, are left
    out. Raises UserError if the table cannot be used, contradicts itself, or lists fewer than two classes.
    """
    below = files_below(path)
    by_name: dict[str, list[Path]] = {}
    for file in below.images:
        below_path = file.relative_to(path)
        for spelling in {below_path.as_posix(), below_path.with_suffix("").as_posix()}:
            by_name.setdefault(spelling, []).append(file)
    labels: dict[Path, str] = {}
    left_out: dict[Path, str] = {}
    for name, label in _rows(table, by_name):
        files = by_name.get(name.replace("\\", "/").removeprefix("./"), [])
        if len(files) != 1:
            why = "several files have this name" if files else "it is in the table, but not in the folder"
            left_out[path / f"./{name}"] = why
        elif not label:
            left_out[files[0]] = "it has no label in the table"
        elif labels.setdefault(files[0], label) != label:
            raise UserError(
                f"{table} lists {name} as {labels[files[0]]!r} and as {label!r}, expected one label: correct "
                "the table."
            )
    classes: Classes = {name: [] for name in sorted(set(labels.values()))}
    for file, label in sorted(labels.items()):
        classes[label].append(file)
    if len(classes) < 2 or len(classes) == len(labels):
        first = next((str(file.relative_to(path)) for file in left_out), "")
        has = f"only the class {next(iter(classes))!r}" if classes else f"{first!r}, but no image in {path}"
        has = "a single image of each class" if len(classes) > 1 else has
        raise UserError(f"{table} lists {has}, expected several images of at least two classes.")
    left_out |= {file: "it is not in the table" for file in below.images if file not in left_out}
    left_out = {file: why for file, why in left_out.items() if file not in labels}
    found = Found(path, tuple(classes), split_classes(classes, seed), left_out=left_out, has_table=True)
    counts = {part: sum(map(len, named.values())) for part, named in found.parts.items()}
    found.lines.append(summary(path, counts, len(classes)))
    for why in sorted(set(left_out.values())):
        names = [str(file.relative_to(path)) for file, reason in left_out.items() if reason == why]
        found.lines.append(f"left out {listed(names)}: {why}")
    return found


def _rows(table: Path, files: Container[str]) -> list[tuple[str, str]]:
    """The file and the label of each row; files are names of some that there are."""
    try:
        text = read_text(table, _MOST).removeprefix("\ufeff")
        first = text.partition("\n")[0]
        delimiter = max("\t,;", key=first.count)
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(map(str.strip, row))]
    except FileNotFoundError:
        raise UserError(f"there is no file {table}, expected a table of images and labels.") from None
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"{table} cannot be read as a table ({error}): save it as CSV in UTF-8.") from error
    if not rows:
        raise UserError(f"{table} is empty, expected a row with a file and a label for each image.")
    file, label, has_header = _columns(table, rows[0], files)
    if odd := next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), 0):
        raise UserError(
            f"{table} has {len(rows[odd])} columns in row {odd + 1}, expected {len(rows[0])} as in the "
            "first: correct the table."
        )
    return [(row[file].strip(), printable(row[label].strip())) for row in rows[has_header:]]


def _columns(table: Path, first: list[str], files: Container[str]) -> tuple[int, int, bool]:
    """Which columns have the files and the labels, and whether the first row is a header."""
    file, label = _called(first, _FILE), _called(first, _LABEL)
    if len(first) == 2 and (file == label or any(cell.strip() in files for cell in first)):
        return 0, 1, False
    if len(first) == 2:
        file, label = (file, 1 - file) if file is not None else (1 - (label or 0), label)
    if file is not None and label is not None and file != label:
        return file, label, True
    raise UserError(
        f"{table} has the columns {', '.join(map(repr, first[:20]))}, expected two, or {_EXPECTED}: rename "
        "them."
    )


def _called(header: list[str], names: tuple[str, ...]) -> int | None:
    """The only column that is called one of the names or, if none is, has one of them among its words."""
    cells = [cell.strip().lower() for cell in header]
    words = [
        set(cell.replace(" ", "_").split("_")) if re.fullmatch("[a-z_ ]+", cell) else set() for cell in cells
    ]
    for called in ([{cell} for cell in cells], words):
        if found := [i for i, each in enumerate(called) if each & set(names)]:
            return found[0] if len(found) == 1 else None
    return None
