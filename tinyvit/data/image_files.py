"""Recognising image files, and finding them in a folder."""

import contextlib
import os
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

from PIL import Image

from tinyvit.support.files import open_regular

# Formats that Pillow recognises but cannot decode on some or all systems.
_NO_DECODER = {"BUFR", "GRIB", "HDF5", "MPEG", "WMF"}
# A program, which Pillow gives to Ghostscript; a wrapper that may hold one; and four that may hold an image
# far larger than they state.
_UNSAFE = {"EPS", "IPTC", "FITS", "ICO", "ICNS", "BLP"}
_PHONES = {".heic", ".heif", ".avif"}  # images even where Pillow lacks a decoder: the user is told which
# How photos begin, whatever their names: JPEG, PNG, GIF, TIFF of either byte order
_BEGINNINGS = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*"
_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"mif1", b"msf1", b"avif", b"avis"}  # of HEIF's families
_JUNK = {"__macosx", "thumbs.db", "ehthumbs.db", "desktop.ini", "$recycle.bin", "@eadir", "lost+found"}


@dataclass(frozen=True)
class Files:
    """The files in a folder and below it, in sorted order; of a folder that is junk, the folder alone.

    unusable has a reason for each link that leads nowhere or back, for each folder that cannot be read, and
    for each pipe or device.
    """

    images: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)
    junk: list[Path] = field(default_factory=list)
    unusable: dict[Path, str] = field(default_factory=dict)


def is_image_name(path: Path) -> bool:
    """True if a file name is that of a readable image: not hidden, and with an image extension."""
    return not is_junk(path) and path.suffix.lower() in _extensions()


def is_image(path: Path) -> bool:
    """True if a file is an image by its name or, whatever its name, by its first bytes."""
    return is_image_name(path) or (not is_junk(path) and _begins_as_image(path))


def is_junk(path: Path) -> bool:
    """True if a file or folder is hidden, or one that systems leave among the photos of their users."""
    return path.name.startswith(".") or path.name.lower() in _JUNK


def images_below(folder: Path) -> tuple[list[Path], int]:
    """The sorted images in a folder and in the folders below it, and how many other files were skipped.

    Hidden files and other junk are neither returned nor counted; links to folders are followed. Raises
    OSError if a folder cannot be read.
    """
    files = files_below(folder, strict=True)
    return files.images, len(files.others) + len(files.unusable)


def files_below(folder: Path, strict: bool = False) -> Files:
    """All files in a folder and below it. Links to folders are followed, unless they lead back.

    A folder that cannot be read is skipped or, if strict, raises its OSError.
    """
    files = Files()
    trails = {str(folder): [os.path.realpath(folder)]}  # of each folder to come: the folders on the way to it

    def skip(error: OSError) -> None:
        if strict:
            raise error
        files.unusable[Path(error.filename)] = f"a folder that cannot be read ({error.strerror})"

    for here, folders, names in os.walk(folder, onerror=skip, followlinks=True):
        trail = trails.pop(here)
        for name in tuple(folders):
            path, real = Path(here, name), os.path.realpath(os.path.join(here, name))
            leads_back = any(Path(above).is_relative_to(real) for above in trail)
            if is_junk(path):
                files.junk.append(path)
            elif leads_back:
                files.unusable[path] = "a link to a folder that it is in"
            else:
                trails[os.path.join(here, name)] = [*trail, real]
                continue
            folders.remove(name)  # os.walk enters only those that stay
        for path in (Path(here, name) for name in names):
            if is_junk(path):
                files.junk.append(path)
            elif not os.path.isfile(path):
                files.unusable[path] = "a link to nothing" if path.is_symlink() else "a pipe or a device"
            else:
                (files.images if is_image(path) else files.others).append(path)
    for kind in (files.images, files.others, files.junk):
        kind.sort()
    return files


def _begins_as_image(path: Path) -> bool:
    try:
        with open_regular(path) as file:
            start = file.read(16)
    except OSError:
        return False
    webp = start[:4] == b"RIFF" and start[8:12] == b"WEBP"
    return start.startswith(_BEGINNINGS) or webp or (start[4:8] == b"ftyp" and start[8:12] in _BRANDS)


@cache
def readable_formats() -> tuple[str, ...]:
    """The formats of images, as Pillow names them, that can be decoded without risk."""
    Image.init()  # fills Image.OPEN
    with contextlib.suppress(ImportError):  # optional: photos of Apple's phones
        import_module("pillow_heif").register_heif_opener()
    return tuple(kind for kind in Image.OPEN if kind not in _NO_DECODER | _UNSAFE)


@cache
def _extensions() -> frozenset[str]:
    readable = readable_formats()  # first, since it may register more extensions
    return (
        frozenset(name for name, kind in Image.registered_extensions().items() if kind in readable) | _PHONES
    )
