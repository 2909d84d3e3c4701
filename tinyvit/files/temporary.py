"""Temporary files and folders next to their targets: never shared, and cleaned up after a crash.

A process keeps its temporary files locked, so one that can be locked was left by a crash and may be deleted.
Where locks are not supported, a file that has not changed for an hour counts as abandoned.
"""

import contextlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from tinyvit.files.locks import Taken, lock, lock_folder
from tinyvit.files.reading import open_regular

_DEAD_AFTER = 3600  # seconds


def temporary_path(target: Path, purpose: str) -> Path:
    """A new path next to target, '.NAME.PID-RANDOM.PURPOSE'; nothing is created there."""
    return target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.{purpose}")


def clear_abandoned(target: Path, purpose: str) -> None:
    """Delete what crashed processes left next to target for the same purpose."""
    name = re.compile(rf"\.{re.escape(target.name)}\.\d+-[0-9a-f]{{8}}\.{re.escape(purpose)}")
    with contextlib.suppress(OSError):  # missing or unreadable folder: writing to it will report the error
        for path in target.parent.iterdir():
            if name.fullmatch(path.name):
                with contextlib.suppress(OSError, Taken):  # in use, or already deleted by another process
                    _delete_if_abandoned(path)


@contextlib.contextmanager
def temporary_folder(target: Path, purpose: str) -> Iterator[Path]:
    """A new, locked folder next to target, deleted at the end with everything in it, unless it was moved."""
    clear_abandoned(target, purpose)
    while True:
        beside = temporary_path(target, purpose)
        beside.mkdir()
        with contextlib.suppress(Taken, FileNotFoundError):
            descriptor = lock_folder(beside)
            break
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


def _delete_if_abandoned(path: Path) -> None:
    """Delete a file or folder. Raises Taken if it is in use, OSError if it is gone or not deletable."""
    if path.is_symlink():  # none of ours: whatever it leads to is somebody else's
        path.unlink()
    elif path.is_dir():
        descriptor = lock_folder(path)
        try:
            if descriptor is not None or _is_old(path):
                shutil.rmtree(path)
        finally:
            if descriptor is not None:
                os.close(descriptor)
    else:
        with open_regular(path) as file:
            if lock(file.fileno()):
                path.unlink()
                return
        if _is_old(path):
            path.unlink()


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > _DEAD_AFTER
