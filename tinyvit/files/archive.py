"""Unpacking an untrusted .tar.gz: only the requested files, and either all of them or none."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import tarfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from tinyvit.errors import UserError
from tinyvit.files.atomic import flush_folder
from tinyvit.files.download import REDOWNLOAD
from tinyvit.files.locks import Taken, lock_folder
from tinyvit.files.temporary import clear_abandoned, temporary_path


def unpack(archive: Path, wanted: Collection[str], folder: Path) -> None:
    """Unpack the wanted members of a .tar.gz, named as in the archive, into a folder.

    The folder is created if necessary. All files are first unpacked into a temporary folder in it and then
    moved into place, so several processes may unpack the same archive at the same time. Raises UserError, and
    leaves the folder unchanged, if the archive is truncated or damaged, if a wanted member is missing or is
    not a regular file, or if the path of any member leads out of the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _temporary_folder(folder / archive.name, "unpacking") as beside:
        try:
            missing = set(wanted) - _unpack_wanted(archive, wanted, beside)
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UserError(
                f"{archive} cannot be unpacked ({error}), expected a complete .tar.gz: "
                f"it is truncated or damaged. {REDOWNLOAD}"
            ) from error
        if missing:
            raise UserError(
                f"{archive} does not contain {sorted(missing)[0]}: it is not the archive that its name says. "
                f"{REDOWNLOAD}"
            )
        for name in wanted:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(beside / name, folder / name)
            flush_folder((folder / name).parent)


@contextmanager
def _temporary_folder(target: Path, purpose: str) -> Iterator[Path]:
    """A new, locked folder next to target, deleted at the end with everything in it."""
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


def _unpack_wanted(archive: Path, wanted: Collection[str], folder: Path) -> set[str]:
    """Write the wanted members below folder in one pass over the archive; returns the names found."""
    found = set()
    with gzip.open(archive) as stream:
        with tarfile.open(fileobj=stream, mode="r|") as members:
            for member in members:
                path = PurePosixPath(member.name)
                if path.is_absolute() or ".." in path.parts:
                    raise _refusal(archive, member.name, "a path inside the archive's own folder")
                if str(path) not in wanted:
                    continue
                if not member.isreg():
                    raise _refusal(archive, member.name, "a regular file of that name")
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with open(target, "wb") as file:
                    shutil.copyfileobj(members.extractfile(member), file)
                    file.flush()
                    os.fsync(file.fileno())
                found.add(str(path))
        while stream.read(1 << 20):  # gzip compares its checksum at the very end
            pass
    return found


def _refusal(archive: Path, member: str, expected: str) -> UserError:
    return UserError(
        f"{archive} contains {member!r}, expected {expected}: it may be malicious, and nothing was unpacked. "
        "Delete it and download the archive from its official page."
    )
