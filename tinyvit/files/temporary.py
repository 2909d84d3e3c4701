"""Temporary files and folders beside their targets: never shared, and cleared away after a crash.

Whoever writes one keeps it locked, so one that can be locked was left by a crash and may be deleted. Where
there are no locks, an hour without a change must do as proof.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from pathlib import Path

from tinyvit.files.locks import Taken, lock, lock_folder

_DEAD_AFTER = 3600  # seconds


def temporary_path(target: Path, purpose: str) -> Path:
    """A new path beside target: '.NAME.PID-RANDOM.PURPOSE'. Nothing is made there."""
    return target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.{purpose}")


def clear_abandoned(target: Path, purpose: str) -> None:
    """Delete what crashed processes left beside target for the same purpose."""
    name = re.compile(rf"\.{re.escape(target.name)}\.\d+-[0-9a-f]{{8}}\.{re.escape(purpose)}")
    with contextlib.suppress(OSError):  # no such folder, or not one to read: writing to it will tell
        for path in target.parent.iterdir():
            if name.fullmatch(path.name):
                with contextlib.suppress(OSError, Taken):  # in use, or cleared away by another process
                    _delete_if_abandoned(path)


def _delete_if_abandoned(path: Path) -> None:
    """Delete a file or a folder. Raises Taken if its process lives, OSError if it is gone or not ours."""
    if path.is_dir():
        descriptor = lock_folder(path)
        try:
            if descriptor is not None or _is_old(path):
                shutil.rmtree(path)
        finally:
            if descriptor is not None:
                os.close(descriptor)
    else:
        with open(path, "rb") as file:
            if lock(file.fileno()):
                path.unlink()
                return
        if _is_old(path):
            path.unlink()


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > _DEAD_AFTER
