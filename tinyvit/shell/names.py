"""Short names of files and folders, for tables and pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


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
