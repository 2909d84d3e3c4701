"""The right of one process to train into a folder, and what it made there before it had anything to show."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tinyvit.errors import UserError
from tinyvit.files.locks import lock_folder


class Claim:
    """A folder that is made, locked, and given back again.

    The lock ends with the process, however that ends. Where there are no locks (on Windows, on some network
    file systems), only the making of a new folder tells who came first.
    """

    def __init__(self, path: Path):
        self.path = path
        self._lock: int | None = None
        self._made: list[Path] = []  # folders from the outside in, then files

    def make(self) -> bool:
        """Make the folder, and those above it that are missing; False if it exists already.

        Of several processes that try, one gets True. Raises UserError if the folder cannot be made.
        """
        try:
            with contextlib.suppress(FileNotFoundError):
                return self._make_with_parents()
            return self._make_with_parents()  # another process has just deleted a parent that it had made
        except OSError as error:
            self.delete_what_was_made()
            raise UserError(
                f"cannot make the run folder {self.path}: {error.strerror}. Choose another one with --out."
            ) from error

    def lock(self) -> None:
        """Lock the folder until unlock or the end of the process. Raises Taken if another process has."""
        if self._lock is None:
            try:
                self._lock = lock_folder(self.path)
            except OSError as error:
                raise UserError(
                    f"cannot open the run folder {self.path}: {error.strerror}. Choose another one."
                ) from error

    def unlock(self) -> None:
        """Give up the lock, if there is one, and forget what was made: it stays."""
        self._made.clear()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def add(self, file: Path) -> None:
        """Count a file among what was made."""
        self._made.append(file)

    def delete_what_was_made(self) -> None:
        """Delete the files that were added and the folders that were made, if nothing else is in them."""
        while self._made:
            path = self._made.pop()
            with contextlib.suppress(OSError):  # gone already, or something of others lies in it
                path.rmdir() if path.is_dir() else path.unlink()

    def _make_with_parents(self) -> bool:
        for parent in reversed(self.path.parents):
            if not parent.is_dir():
                self._make_one(parent)
        return self._make_one(self.path)

    def _make_one(self, folder: Path) -> bool:
        try:
            folder.mkdir()
        except FileExistsError:
            return False
        self._made.append(folder)
        return True
