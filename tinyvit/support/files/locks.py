"""Locks that end with their process: a crash leaves none behind, and no lock files are needed.

They are flock locks, held through an open file or folder. Windows and some network file systems do not
support them; the functions here then say so, and callers do without. On Windows a folder can be reserved by
a lock of another kind, on a file in it.
"""

import contextlib
import os
from pathlib import Path

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
