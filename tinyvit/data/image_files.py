"""Recognising image files by name, and finding them in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from PIL import Image

# Formats that Pillow recognises but cannot decode on some or all systems.
_NO_DECODER = {"BUFR", "GRIB", "HDF5", "MPEG", "WMF"}
# A program, which Pillow gives to Ghostscript; a wrapper that may hold one; and four that may hold an image
# far larger than they state.
_UNSAFE = {"EPS", "IPTC", "FITS", "ICO", "ICNS", "BLP"}


def is_image_name(path: Path) -> bool:
    """Whether a file name is that of a readable image: not hidden, and with an image extension."""
    return not is_hidden(path) and path.suffix.lower() in _extensions()


def is_hidden(path: Path) -> bool:
    """Whether a file or folder is hidden: its name starts with a dot."""
    return path.name.startswith(".")


def images_below(folder: Path) -> tuple[list[Path], int]:
    """The sorted images in a folder and in the folders below it, and how many other files were skipped.

    Hidden files and folders are neither returned nor counted; links to folders are not followed. Raises
    OSError if the folder cannot be read.
    """
    images, skipped = [], 0
    for path in visible_files(folder, _raise):
        if is_image_name(path):
            images.append(path)
        else:
            skipped += 1
    return sorted(images), skipped


def visible_files(folder: Path, onerror: Callable[[OSError], None] | None = None) -> list[Path]:
    """All files in a folder and below it that are neither hidden nor in a hidden folder below it.

    A folder that cannot be read is skipped, and onerror is called with the error.
    """
    found = []
    for here, folders, names in os.walk(folder, onerror=onerror):
        folders[:] = [name for name in folders if not is_hidden(Path(name))]  # os.walk enters only these
        found += [Path(here, name) for name in names if not is_hidden(Path(name))]
    return found


def _raise(error: OSError) -> None:
    raise error


@cache
def readable_formats() -> tuple[str, ...]:
    """The formats of images, as Pillow names them, that can be decoded without risk."""
    Image.init()  # fills Image.OPEN
    return tuple(kind for kind in Image.OPEN if kind not in _NO_DECODER | _UNSAFE)


@cache
def _extensions() -> frozenset[str]:
    formats = Image.registered_extensions().items()
    return frozenset(name for name, kind in formats if kind in readable_formats())
