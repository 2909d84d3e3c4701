"""Printing predictions: a few lines, or a line of JSON, per image, all else to standard error; and tables."""

import argparse
import contextlib
import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from tinyvit.support.errors import UserError, one_line, printable
from tinyvit.support.files import open_regular
from tinyvit.support.files.atomic import write_atomically
from tinyvit.support.shell.progress import Progress


class Predictions:
    """Prints predictions to standard output; errors, notes and, on a terminal, progress to standard error.

    program is the command's name, with which errors and notes start; classes are the names of all classes, of
    which the top ones are printed for each image. As JSON, an image is one line, the likeliest class first:

        {"file": "a.png", "classes": [{"class": "cat", "index": 3, "probability": 0.931204}, ...]}
        {"file": "b.png", "error": "b.png does not exist, expected an image file."}

    With to_files, whoever reads them may leave, as head does, and the rest is predicted all the same. table
    has the same as lines of CSV, without images that cannot be read:

        file,class,probability,class_2,probability_2
        a.png,cat,0.931204,dog,0.061377
    """

    def __init__(
        self, program: str, classes: Sequence[str], top: int, as_json: bool = False, to_files: bool = False
    ):
        self._ignored = (BrokenPipeError,) if to_files else ()
        self.errors = 0  # printed so far
        self.table = [csv_line(["file", *csv_columns("class", min(top, len(classes)))])]
        self._program, self._classes, self._top, self._as_json = program, classes, top, as_json
        self._progress = Progress(sys.stderr) if sys.stderr.isatty() else None
        self._report = self._progress.count("predicting") if self._progress else None

    def show_progress(self, done: int, total: int) -> None:
        """Show how many of all images are done, on a terminal."""
        if self._report:
            self._report(done, total)

    def prediction(self, path: Path, probabilities: np.ndarray) -> str:
        """Print the most likely classes of an image, given the probability of each class (C,).

        Returns the first in a few words, such as 'cat 93.1%'. Without classes it prints nothing, returns ''.
        """
        if not len(probabilities):
            return ""
        best = likeliest(probabilities, self._top)
        self.table.append(csv_line([str(path), *csv_cells(self._classes, probabilities, self._top)]))
        if self._as_json:
            self._print_json(path, classes=[self._as_record(c, probabilities[c]) for c in best])
        else:
            lines = [f"  {100 * probabilities[c]:5.1f}%  {self._classes[c]}" for c in best]
            self._print("\n".join([printable(str(path)), *lines]))
        return f"{self._classes[best[0]]} {100 * probabilities[best[0]]:.1f}%"

    def error(self, path: Path, error: UserError) -> None:
        """Print what is wrong with an image, or with a folder of images."""
        if self._as_json:
            self._print_json(path, error=str(error))
        self.note(f"error: {error}")
        self.errors += 1

    def note(self, text: str) -> None:
        """Print a line to standard error."""
        self._print(f"{self._program}: {one_line(text)}", sys.stderr)

    def _as_record(self, c: int, probability: float) -> dict[str, Any]:
        return {"class": self._classes[c], "index": int(c), "probability": round(float(probability), 6)}

    def _print_json(self, path: Path, **fields: Any) -> None:
        self._print(json.dumps({"file": str(path)} | fields))

    def _print(self, text: str, stream: TextIO | None = None) -> None:
        if self._progress:
            self._progress.clear()
        with contextlib.suppress(*self._ignored):
            print(text, file=stream, flush=True)


def csv_path(start: str) -> Callable[[str], Path]:
    """A type for argparse: a path that ends in .csv, where there is nothing yet or a table that starts so."""

    def check(text: str) -> Path:
        path = Path(text)
        if path.suffix.lower() != ".csv":
            raise argparse.ArgumentTypeError(f"{text!r} does not end in .csv")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"{text!r}: there is no folder {path.parent}, create it first")
        with contextlib.suppress(OSError):
            if not os.path.lexists(path):
                return path
            with open_regular(path) as file:
                if file.read(len(start)) == start.encode():
                    return path
        raise argparse.ArgumentTypeError(
            f"{text!r} exists, and it is not a table of this command: choose another name, or move it away"
        )

    return check


def write_csv(path: Path, lines: Sequence[str]) -> None:
    """Write a table. A file's name in it need not be text. Raises UserError if it cannot be written."""
    table = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    write_atomically(path, lambda file: file.write(table))


def csv_line(values: Iterable[str]) -> str:
    """The values as a line of CSV, without its end: commas, quotes and ends of lines in them are quoted."""
    line = io.StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue().removesuffix("\r\n")


def csv_columns(first: str, count: int) -> list[str]:
    """The names of the columns of csv_cells: first, probability, first_2, probability_2 and so on."""
    numbers = ["", *(f"_{number}" for number in range(2, count + 1))]
    return [f"{name}{number}" for number in numbers for name in (first, "probability")]


def csv_cells(classes: Sequence[str], probabilities: np.ndarray, count: int) -> list[str]:
    """The count likeliest classes, each with its probability, for the probability of each class (C,)."""
    best = likeliest(probabilities, count)
    return [cell for c in best for cell in (classes[c], f"{probabilities[c]:.6f}")]


def likeliest(probabilities: np.ndarray, count: int) -> np.ndarray:
    """The indices of the count likeliest classes (C,), the likeliest first, and of equals the first."""
    return (-probabilities).argsort(kind="stable")[:count]
