"""Unpacking an untrusted .tar.gz: only the requested files, and either all of them or none."""

import gzip
import os
import shutil
import tarfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from tinyvit.support.errors import UserError
from tinyvit.support.files import open_regular
from tinyvit.support.files.atomic import clear_abandoned, flush_folder, move, temporary_folder
from tinyvit.support.files.download import REDOWNLOAD

MOST_BYTES = 1_000_000_000  # unpacked; the official archives have 190 million
MOST_MEMBERS = 1000  # the official archives have 8
_HEADERS = 65_536  # bytes before the content of a member, with room for long names
_PURPOSE = "unpacking"
# The exceptions that gzip, zlib and tarfile raise for a damaged archive.
_DAMAGE: tuple[type[Exception], ...] = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile)
_DAMAGE += (ValueError, LookupError, TypeError, ArithmeticError, RecursionError)


def unpack(archive: Path, wanted: Collection[str], folder: Path) -> None:
    """Unpack the wanted members of a .tar.gz, named as in the archive, into a folder.

    The folder is created if necessary. All files are first unpacked into a temporary folder in it and then
    moved into place, so several processes may unpack the same archive at the same time. Raises UserError, and
    leaves the folder unchanged, if the archive is truncated or damaged, if a wanted member is missing or is
    not a regular file, if the path of any member leads out of the folder, or if it becomes much larger than
    expected.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with temporary_folder(folder / archive.name, _PURPOSE) as beside:
            missing = set(wanted) - _unpack_wanted(archive, wanted, beside)
            if missing:
                raise UserError(
                    f"{archive} does not contain {sorted(missing)[0]}: it is not the archive that its name "
                    f"says. {REDOWNLOAD}"
                )
            for name in wanted:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                move(beside / name, folder / name)
                flush_folder((folder / name).parent)
    except UserError:
        raise
    except _DAMAGE as error:
        raise UserError(
            f"{archive} cannot be unpacked ({error}), expected a complete .tar.gz: "
            f"it is truncated or damaged. {REDOWNLOAD}"
        ) from error
    except OSError as error:
        raise UserError(f"cannot unpack {archive} into {folder}: {error.strerror or error}.") from error


def clear_unpacking(archive: Path, folder: Path) -> None:
    """Delete what processes that were killed while unpacking an archive have left in a folder."""
    clear_abandoned(folder / archive.name, _PURPOSE)


class _Metered:
    """A stream that gives no more than was allowed: a header may claim that gigabytes belong to it."""

    def __init__(self, stream: BinaryIO):
        self._stream, self._left, self._read = stream, 0, 0

    def allow(self, count: int) -> None:
        """Let count more bytes be read."""
        self._left += count

    def read(self, size: int) -> bytes:
        """Up to size bytes. TarError if these are too many."""
        content = self._stream.read(size)
        self._left -= len(content)
        self._read += len(content)
        if self._left < 0 or self._read > MOST_BYTES:
            raise tarfile.ReadError("it becomes far larger than expected")
        return content


def _unpack_wanted(archive: Path, wanted: Collection[str], folder: Path) -> set[str]:
    """Write the wanted members below folder in one pass over the archive; returns the names found."""
    names = set()
    with open_regular(archive) as file, gzip.open(file) as unzipped:
        stream = _Metered(cast(BinaryIO, unzipped))
        stream.allow(_HEADERS)
        with tarfile.open(fileobj=cast(BinaryIO, stream), mode="r|") as members:
            for count, member in enumerate(members):
                _check_member(archive, member, count)
                stream.allow(member.size + _HEADERS)
                path = PurePosixPath(member.name)
                if str(path) not in wanted:
                    continue
                if not member.isreg() or member.issparse():
                    raise _refusal(archive, member.name, "a regular file of that name")
                _write(members, member, folder / path)
                names.add(str(path))
        stream.allow(MOST_BYTES)
        while stream.read(1 << 20):  # gzip compares its checksum at the very end
            pass
    return names


def _check_member(archive: Path, member: tarfile.TarInfo, count: int) -> None:
    """Raise an error for a member that no honest archive has."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise _refusal(archive, member.name, "a path inside the archive's own folder")
    if not 0 <= member.size <= MOST_BYTES or count >= MOST_MEMBERS:
        raise tarfile.ReadError("it becomes far larger than expected")


def _write(members: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "wb") as file:
        content = members.extractfile(member)
        assert content, "only regular files are written"
        shutil.copyfileobj(content, file)
        file.flush()
        os.fsync(file.fileno())


def _refusal(archive: Path, member: str, expected: str) -> UserError:
    return UserError(
        f"{archive} contains {member!r}, expected {expected}: it may be malicious, and nothing was unpacked. "
        "Delete it and download the archive from its official page."
    )
