"""Decoded photos, kept for the next run in the folder for what can be made again.

A folder of photos has one entry for each size and fit, valid while the names, sizes and times of its files
stay:

FOLDER-STAMP.npy    the photos, uint8 (n, size, size, 3), in the order of the files' names
FOLDER-STAMP.json   which of them could not be read, and why; written last
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np
import PIL

from tinyvit.errors import UserError
from tinyvit.files import cache_folder
from tinyvit.files.atomic import write_atomically
from tinyvit.files.reading import read_json

_WAY = 1  # to be raised whenever photos become other pixels


class PhotoCache:
    """The decoded photos of some files, cropped or otherwise fitted to size x size pixels."""

    def __init__(self, folder: Path, files: Sequence[Path], size: int, fit: str | None = None):
        self.files = sorted(files)
        self.shape = (len(files), size, size, 3)
        stats = [(str(file.relative_to(folder)), file.stat()) for file in self.files]
        lines = [f"{name} {each.st_size} {each.st_mtime_ns}" for name, each in stats]
        self._folder = _digest(f"{folder.resolve()} {size}{'' if fit in (None, 'crop') else f' {fit}'}")
        self._stamp = _digest("\n".join([f"{_WAY} {PIL.__version__}", *lines]))

    @property
    def path(self) -> Path:
        """The file of the photos. Raises UserError if this user has no folder for it."""
        return cache_folder() / "photos" / f"{self._folder}-{self._stamp}.npy"

    def read(self) -> tuple[np.ndarray, dict[Path, str]] | None:
        """The photos, mapped from the disk in the order of `files`, and why some are missing; or None."""
        try:
            errors = read_json(self.path.with_suffix(".json"))
            images = np.load(self.path, mmap_mode="r", allow_pickle=False)
            if images.shape == self.shape and images.dtype == np.uint8:
                return images, {self.files[int(index)]: str(reason) for index, reason in errors.items()}
        except (OSError, ValueError, LookupError, AttributeError):
            pass  # it is not there, or is damaged: the photos are decoded again
        return None

    def write(self, photos: Iterable[np.ndarray | str]) -> bool:
        """Keep the photos of the files, in their order, or why a file has none; returns whether it could.

        They are written as they come, so that they need not all be in memory.
        """
        header = {"descr": "|u1", "fortran_order": False, "shape": self.shape}
        reasons: dict[int, str] = {}

        def write(file: BinaryIO) -> None:
            np.lib.format.write_array_header_1_0(file, header)
            for i, photo in enumerate(photos):
                if isinstance(photo, str):
                    reasons[i] = photo
                file.write(bytes(prod(self.shape[1:])) if isinstance(photo, str) else photo.data)

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for old in self.path.parent.glob(f"{self._folder}-*"):
                old.unlink()
            write_atomically(self.path, write)
            write_atomically(
                self.path.with_suffix(".json"), lambda file: file.write(json.dumps(reasons).encode())
            )
        except (OSError, UserError):
            return False
        return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
