"""Unpacking a .tar.gz that came from elsewhere: only the files asked for, complete or not at all."""

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
from tinyvit.files.download import ANEW
from tinyvit.files.locks import Taken, lock_folder
from tinyvit.files.temporary import clear_abandoned, temporary_path


def unpack(archive: Path, wanted: Collection[str], folder: Path) -> None:
    """Unpack the wanted members of a .tar.gz, named as the archive names them, into a folder.

    The folder is made if need be. All files are unpacked into a temporary folder in it first and moved into
    place at the end; so several processes may unpack the same archive at the same time. Raises UserError, and
    leaves the folder as it was, if the archive is cut short or damaged, lacks a wanted file, has something
    other than a regular file in its place, or has a member whose path leads out of the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _temporary_folder(folder / archive.name, "unpacking") as beside:
        try:
            missing = set(wanted) - _unpack_wanted(archive, wanted, beside)
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UserError(
                f"{archive} cannot be unpacked ({error}), expected a whole .tar.gz: "
                f"it is cut short or damaged. {ANEW}"
            ) from error
        if missing:
            raise UserError(
                f"{archive} does not hold {sorted(missing)[0]}: it is not the archive that its name says. "
                f"{ANEW}"
            )
        for name in wanted:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(beside / name, folder / name)
            flush_folder((folder / name).parent)


@contextmanager
def _temporary_folder(target: Path, purpose: str) -> Iterator[Path]:
    """A new folder beside target, locked, and gone at the end with all that is in it."""
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
    """Write the wanted members below folder, in one pass over the archive; returns the names found."""
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
        f"{archive} holds {member!r}, expected {expected}: it may be malicious, nothing was unpacked. "
        "Delete it and download the archive from its official page."
    )
