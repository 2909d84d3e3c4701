"""Reading .npz files: zip archives with one .npy file for each array.

    6 bytes      magic, b"\\x93NUMPY"; then the version and the length of the header
    header       the text of a Python dict: dtype, order and shape
    the rest     the numbers

They are read member by member here, so that the claims of a header are checked before any memory is allocated
for it, and so that nothing is ever unpickled. Reading a file takes at most 20 times its size and 100 MB.

A seal is a checksum over the whole file, so that any byte that changes is noticed. The zip format checks the
content of each array, but not the names, dates and flags around it, and a reader need not come to the check.
A sealed file ends in a comment, which every program that reads zips skips:

    everything else     with an array named SEALED, which says that a seal belongs to it
    b"sha256:" + 64     the SHA-256 of all bytes before, in hexadecimal

Files without both, such as NumPy's own, are not checked.
"""

import hashlib
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tinyvit.support.errors import UserError, without_warnings
from tinyvit.support.files import open_regular

_Members = dict[str, zipfile.ZipInfo]  # by the names of their arrays

REMEDY = "Delete it and download it, or train it, again."
MOST_ARRAYS = 20_000
_READ_HEADER = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_KINDS = "fiubU"  # floating point, whole numbers, true or false, and text, which describes a checkpoint
_END = b"PK\x05\x06"  # of a zip: this, 6 bytes, the number of members, 10 bytes, the length of a comment
_END_SIZE, _LONGEST_COMMENT = 22, 0xFFFF
_LONGEST_REASON = 200  # characters: NumPy's may quote a whole header
# The exceptions that zipfile, zlib and numpy raise for a damaged file.
_DAMAGE: tuple[type[Exception], ...] = (OSError, ValueError, EOFError, LookupError, TypeError, RuntimeError)
_DAMAGE += (ArithmeticError, MemoryError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error)


def names_in_npz(path: Path) -> list[str]:
    """The names of a file's arrays. Raises UserError if it is not an .npz file."""
    with _opened(path, REMEDY) as (_, _, members):
        return list(members)


def read_npz(path: Path, remedy: str = REMEDY, with_bytes: bool = False) -> dict[str, np.ndarray]:
    """All arrays of a file; bfloat16, which NumPy writes as two bytes without a type, becomes float32.

    Raises UserError if the file is damaged, does not contain what it claims, differs from its checksum (see
    files.npz), or contains anything but numbers and text, or byte strings if with_bytes; remedy is the last
    sentence of its message.
    """
    with _opened(path, remedy) as (file, archive, members):
        check_seal(file, members)
        most = 100_000_000 + 20 * path.stat().st_size
        held = sum(member.file_size for member in members.values())
        if held > most:
            raise ValueError(f"its arrays have {held:,} bytes, expected no more than {most:,}")
        kinds = _KINDS + "S" * with_bytes
        return {name: _array(archive, member, kinds) for name, member in members.items()}


def from_bfloat16(halves: np.ndarray) -> np.ndarray:
    """bfloat16 numbers, given as uint16, as float32: a bfloat16 is the upper half of a float32."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


@contextmanager
def _opened(path: Path, remedy: str) -> Iterator[tuple[BinaryIO, zipfile.ZipFile, _Members]]:
    """A file, the archive in it, and its members; whatever fails meanwhile is a UserError."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive, without_warnings():
            # the warnings are NumPy's, about headers in an unusual form
            yield file, archive, _members(archive, _claimed_count(file))
    except _DAMAGE as error:
        raise _unusable(path, error, remedy) from error


def _members(archive: zipfile.ZipFile, claimed: int) -> _Members:
    """The members by the names of their arrays. ValueError if they are not as many as the archive claims."""
    infos = archive.infolist()
    if len(infos) != claimed:
        raise ValueError(f"it contains {len(infos):,} arrays, and states that it has {claimed:,}")
    if len(infos) > MOST_ARRAYS:
        raise ValueError(f"it contains {len(infos):,} arrays, expected no more than {MOST_ARRAYS:,}")
    members: _Members = {}
    for member in infos:
        name = member.filename.removesuffix(".npy")
        if name in members:
            raise ValueError(f"{name!r} is in it twice")
        members[name] = member
    return members


def _claimed_count(file: BinaryIO) -> int:
    """Number of members as stated at the end of a zip: zipfile lists those it finds, without comparing."""
    file.seek(0, 2)
    file.seek(-min(file.tell(), _END_SIZE + _LONGEST_COMMENT), 2)
    tail = file.read()
    end = len(tail) - _END_SIZE  # where it is if there is no comment
    if not (tail.startswith(_END, end) and tail.endswith(b"\0\0")):
        end = tail.rfind(_END)
    return int.from_bytes(tail[end + 10 : end + 12], "little")


def _unusable(path: Path, error: Exception, remedy: str) -> UserError:
    if isinstance(error, OSError) and error.errno:
        return UserError(f"cannot read {path}: {error.strerror}.")
    why = (str(error).splitlines() or [type(error).__name__])[0]
    if isinstance(error, MemoryError):
        why = "it does not fit into memory"
    if len(why) > _LONGEST_REASON:
        why = f"{why[:_LONGEST_REASON]}..."
    return UserError(f"{path} is not a usable .npz file: {why.removesuffix('.')}. {remedy}")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, kinds: str) -> np.ndarray:
    name = member.filename
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name!r} is compressed in a way that NumPy never uses")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in _READ_HEADER:
            raise ValueError(f"{name!r} has version {version}, expected (1, 0) or (2, 0)")
        shape, is_fortran, dtype = _READ_HEADER[version](file)
        is_bfloat16 = dtype == np.dtype("V2")
        if dtype.hasobject:
            raise ValueError(
                f"{name!r} contains pickled Python objects, which are never loaded; text is saved without "
                "them as array.astype(str)"
            )
        if dtype.kind not in kinds and not is_bfloat16:
            raise ValueError(f"{name!r} has dtype {dtype}, expected numbers")
        needed, held = prod(shape) * dtype.itemsize, member.file_size - file.tell()
        if needed != held or min(shape, default=0) < 0:
            raise ValueError(
                f"{name!r} of shape {shape} and dtype {dtype} needs {needed:,} bytes, has {held:,}"
            )
        content = file.read(held)  # no more than that is unpacked; at its end, the CRC is compared
        if len(content) != held or file.read(1):
            raise ValueError(f"{name!r} has {len(content):,} bytes, expected {held:,}")
    flat = np.frombuffer(content, dtype)
    if is_bfloat16:
        flat = from_bfloat16(flat.view(np.uint16))
    return flat.reshape(shape, order="F" if is_fortran else "C")


SEALED = "sealed"
_TAG = b"sha256:"
_LENGTH = len(_TAG) + 64
_CHUNK = 1 << 20


def add_seal(file: BinaryIO) -> None:
    """Seal a zip archive without a comment, opened for reading and writing; an array is named SEALED."""
    file.seek(-2, 2)
    file.write(_LENGTH.to_bytes(2, "little"))  # of the comment that follows
    file.write(_TAG + _digest(file, file.tell()))


def is_sealed(file: BinaryIO) -> bool:
    """True if a file ends in a seal, be it the right one or not."""
    file.seek(max(file.seek(0, 2) - _LENGTH, 0))
    return file.read(len(_TAG)) == _TAG


def check_seal(file: BinaryIO, names: Collection[str]) -> None:
    """Raise ValueError if a sealed archive with arrays of these names has changed since it was sealed."""
    length = file.seek(0, 2) - _LENGTH
    file.seek(max(length, 0))
    seal = file.read()
    if not seal.startswith(_TAG) and SEALED not in names:
        return
    if seal != _TAG + _digest(file, length):
        raise ValueError("its content differs from its checksum")


def _digest(file: BinaryIO, length: int) -> bytes:
    """The SHA-256 of the first bytes of a file; afterwards the file stands behind them."""
    digest, left = hashlib.sha256(), length
    file.seek(0)
    while left > 0 and (chunk := file.read(min(left, _CHUNK))):
        digest.update(chunk)
        left -= len(chunk)
    return digest.hexdigest().encode()
