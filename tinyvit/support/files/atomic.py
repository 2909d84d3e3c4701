"""Writing a file so that readers see either the complete old version or the complete new one.

Temporary files and folders next to their targets: never shared, and cleaned up after a crash.

A process keeps its temporary files locked, so one that can be locked was left by a crash and may be deleted.
Where locks are not supported, a file that has not changed for an hour counts as abandoned.
"""

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from tinyvit.support.errors import UserError
from tinyvit.support.files import open_regular
from tinyvit.support.files.locks import Taken, lock, lock_folder

NO_ROOM = errno.ENOSPC, errno.EDQUOT, errno.EFBIG
_REMEDIES = {
    **dict.fromkeys(NO_ROOM, "free some space, or choose another folder"),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), "choose a folder that you may write to"),
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EISDIR: "there is a folder of that name: choose another name, or move the folder",
}
_PATIENCE = 5  # seconds
_DEAD_AFTER = 3600  # seconds


def write_atomically(path: Path, write: Callable[[BinaryIO], object], previous: Path | None = None) -> None:
    """Call write on a temporary file next to path, flush it to disk, then move it into place.

    write may also read what it has written. The file that is replaced, if any, is then found at previous, in
    the same folder. If anything fails, path is unchanged and the temporary file is deleted. Processes that
    write the same path at the same time do not interfere: the last one to finish wins. Raises UserError if
    the disk is full or the folder is missing or not writable.
    """
    clear_abandoned(path, "writing")
    try:
        beside, file = _open_beside(path)
        try:
            with file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
                if os.name == "nt":  # elsewhere it stays open, and so locked, until it has been moved
                    file.close()
                if previous:
                    _keep(path, previous)
                move(beside, path)
        except BaseException:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not os.path.isdir(path.parent):
            raise UserError(
                f"cannot write {path}: there is no folder {path.parent}. Create it first."
            ) from error
        remedy = _REMEDIES.get(error.errno or 0, "choose another folder")
        raise UserError(
            f"cannot write {path}: {error.strerror or error}. Nothing was overwritten; {remedy}."
        ) from error
    flush_folder(path.parent)


def move(source: Path, target: Path) -> None:
    """Move a file or folder into place, replacing any file at target.

    On Windows this fails while another program has either of them open, as a virus scanner has for a moment:
    it is then tried again for some seconds. Raises UserError if that does not help, and OSError if the move
    fails for another reason.
    """
    give_up = time.monotonic() + _PATIENCE
    while True:
        try:
            os.replace(source, target)
            return
        except PermissionError as error:
            if time.monotonic() > give_up:
                raise UserError(
                    f"cannot replace {target}: {error.strerror or error}. Nothing was overwritten; close the "
                    "program that has it open, or choose another name."
                ) from error
            time.sleep(0.05)


def _keep(path: Path, previous: Path) -> None:
    """Give any file at path the other name as well, at no moment taking away the first.

    Where a file cannot have two names (on some network drives), it is moved.
    """
    if not path.exists():
        return
    try:
        previous.unlink(missing_ok=True)
        os.link(path, previous)
    except OSError:
        move(path, previous)


def flush_folder(folder: Path) -> None:
    """Make the names in a folder survive a power failure, where the system supports that."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):  # unsupported on some network file systems; the file is in place
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _open_beside(path: Path) -> tuple[Path, BinaryIO]:
    """A new, locked file next to path, with the permissions of any new file."""
    while True:
        beside = temporary_path(path, "writing")
        file = open(beside, "x+b")  # noqa: SIM115 - the caller closes it
        with contextlib.suppress(Taken):
            if not lock(file.fileno()) or beside.exists():
                return beside, file
        file.close()  # another process took it for abandoned before it was locked: try again


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


@contextlib.contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """A new folder to write into, which takes the place of folder at the end unless something failed."""
    with temporary_folder(folder, "writing") as beside:  # an incomplete folder is worse than none
        yield beside
        clear_abandoned(folder, "replaced")
        before = temporary_path(folder, "replaced")
        if folder.exists():
            move(folder, before)  # a kill between these two lines leaves both, under hidden names
        move(beside, folder)
        shutil.rmtree(before, ignore_errors=True)
    flush_folder(folder.parent)


def _delete_if_abandoned(path: Path) -> None:
    """Delete a file or folder. Raises Taken if it is in use, OSError if it is gone or not deletable."""
    if path.is_symlink():  # none of ours: it leads to a file that is not ours either
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
