"""Locks that end with their process: a crash leaves none behind, and no lock files are needed.

They are flock locks, held through an open file or folder. Windows and some network file systems do not
support them; the functions here then say so, and callers do without. On Windows a folder can be reserved by
a lock of another kind, on a file in it.

A Claim is one process's right to write into a folder, and what it created there.
"""

import contextlib
import os
from pathlib import Path

from tinyvit.support.errors import UserError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:  # all other systems
    msvcrt = None  # type: ignore[assignment]

_LOCK_FILE = ".lock"
_ATTEMPTS = 10  # enough to recognise file systems on which a folder never looks the same twice


class Taken(Exception):  # noqa: N818 - an event, not an error
    """The lock is held elsewhere: by another process, or through another open file of this one."""


def lock(descriptor: int) -> bool:
    """Lock an open file or folder until it is closed; returns False where locks are not supported.

    Raises Taken, without waiting, if the lock is held elsewhere.
    """
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Taken from None
    except OSError:  # a file system without locks
        return False
    return True


def leads_to(path: Path, descriptor: int) -> bool:
    """True if path is still the file or folder that was opened, neither deleted nor replaced since."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def lock_folder(path: Path) -> int | None:
    """Lock a folder; returns a descriptor to unlock it with os.close, or None where locks are not supported.

    Raises Taken if the lock is held elsewhere, and FileNotFoundError or NotADirectoryError if there is no
    such folder.
    """
    if fcntl is None:
        return None
    for _ in range(_ATTEMPTS):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except (FileNotFoundError, NotADirectoryError):
            raise
        except OSError:  # the folder may be writable although it cannot be opened
            return None
        try:
            if lock(descriptor) and leads_to(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # no locks, or the folder was deleted and created again meanwhile: try again
    return None


def reserve_folder(path: Path) -> int | None:
    """As lock_folder; on Windows, which opens no folders, a lock on the file .lock in it. See unreserve."""
    if msvcrt is None:
        return lock_folder(path)
    try:
        descriptor = os.open(path / _LOCK_FILE, os.O_RDWR | os.O_CREAT)
    except OSError:  # the folder is not writable, and whatever writes into it will report that
        return None
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        os.close(descriptor)
        raise Taken from None
    return descriptor


def unreserve(path: Path, descriptor: int) -> None:
    """End what reserve_folder began."""
    os.close(descriptor)
    if msvcrt is not None:
        with contextlib.suppress(OSError):  # another process has just opened it
            (path / _LOCK_FILE).unlink()


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
        if msvcrt is not None:  # Windows deletes no file that is open
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
