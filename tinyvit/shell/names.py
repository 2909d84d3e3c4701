"""Names of files and folders: short ones for tables and pictures, and as words of a command line."""

import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote


def as_argument(path: Path | str) -> str:
    """A path as a word of a command line: quoted where necessary, and never taken for a flag."""
    text = str(path)
    return quote(f"./{text}" if text.startswith("-") else text)


def short_names(paths: Sequence[Path]) -> list[str]:
    """The end of each path, as short as possible while different from those of all other paths.

    a/1.png, b/1.png and b/2.png are called a/1.png, b/1.png and 2.png.
    """
    whole = [Path(os.path.abspath(path)) for path in paths]  # even '.' has a name
    return [_shortest(path, set(whole) - {path}) for path in whole]


def _shortest(path: Path, others: set[Path]) -> str:
    for count in range(1, len(path.parts)):
        if all(other.parts[-count:] != path.parts[-count:] for other in others):
            return os.path.join(*path.parts[-count:])
    return str(path)
