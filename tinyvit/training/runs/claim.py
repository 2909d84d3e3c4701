"""One process's claim to train into a folder, and what it created there before its first checkpoint."""

import contextlib
from pathlib import Path

from tinyvit.support.errors import UserError
from tinyvit.support.files import locks
from tinyvit.support.files.locks import reserve_folder, unreserve


class Claim:
    """A folder that is created, locked and released again.

    The lock ends with the process, however the process ends. Where locks are not supported, on some network
    file systems, only the creation of a new folder decides which process was first.
    """

    def __init__(self, path: Path):
        self.path = path
        self._lock: int | None = None
        self._made: list[Path] = []  # folders from the outside in, then files

    def make(self) -> bool:
        """Create the folder and any missing parents; False if it already exists.

        If several processes try, only one gets True. Raises UserError if the folder cannot be created.
        """
        try:
            with contextlib.suppress(FileNotFoundError):
                return self._make_with_parents()
            return self._make_with_parents()  # another process has just deleted a parent that it had created
        except OSError as error:
            self.delete_what_was_made()
            raise UserError(
                f"cannot create the run folder {self.path}: {error.strerror}. Choose another one with --out."
            ) from error

    def lock(self) -> None:
        """Lock the folder until unlock or the end of the process; Taken if another process has locked it."""
        if self._lock is None:
            try:
                self._lock = reserve_folder(self.path)
            except OSError as error:
                raise UserError(
                    f"cannot open the run folder {self.path}: {error.strerror}. Choose another one."
                ) from error

    def unlock(self) -> None:
        """Release the lock, if there is one, and keep what was created."""
        self._made.clear()
        self._end_lock()

    def add(self, file: Path) -> None:
        """Record a file as created by this process."""
        self._made.append(file)

    def delete_what_was_made(self) -> None:
        """Delete the recorded files, and the folders that were created if nothing else is in them."""
        if locks.msvcrt is not None:  # Windows deletes no file that is open
            self._end_lock()
        while self._made:
            path = self._made.pop()
            with contextlib.suppress(OSError):  # already gone, or not empty
                path.rmdir() if path.is_dir() else path.unlink()

    def _end_lock(self) -> None:
        if self._lock is not None:
            unreserve(self.path, self._lock)
            self._lock = None

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
