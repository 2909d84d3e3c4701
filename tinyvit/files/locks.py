"""Locks that end with their process: a crash leaves none behind, and no extra file is needed.

They are flock's, held by an open file or folder. Windows and some network file systems do not have them;
whoever asks is told, and does without.
"""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


class Taken(Exception):  # noqa: N818 - an event, not an error
    """Somebody else holds the lock: another process, or another open file of this one."""


def lock(descriptor: int) -> bool:
    """Lock an open file or folder until it is closed; False where there are no locks.

    Raises Taken, at once, if somebody else holds the lock.
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
    """Whether path still is the file or folder that was opened, not gone or replaced since."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def lock_folder(path: Path) -> int | None:
    """Lock a folder; returns what os.close unlocks, or None where there are no locks.

    Raises Taken if somebody else holds the lock, FileNotFoundError or NotADirectoryError if there is no such
    folder.
    """
    if fcntl is None:
        return None
    for _ in range(_ATTEMPTS):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except (FileNotFoundError, NotADirectoryError):
            raise
        except OSError:  # it may be written to, but not opened
            return None
        try:
            if lock(descriptor) and leads_to(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # no locks, or it was deleted and made again in the meantime: once more
    return None


_ATTEMPTS = 10  # some file systems never show the same folder twice: enough to tell
