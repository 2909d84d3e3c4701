"""A checksum over the whole of an .npz file, so that any byte that changes is noticed.

The zip format checks the content of each array, but not the names, dates and flags around it, and a reader
need not come to the check. A sealed file ends in a comment, which every program that reads zips skips:

    everything else     with an array named SEALED, which says that a seal belongs to it
    b"sha256:" + 64     the SHA-256 of all bytes before, in hexadecimal

Files without both, such as NumPy's own, are not checked.
"""

import hashlib
from collections.abc import Collection
from typing import BinaryIO

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
    """Whether a file ends in a seal, be it the right one or not."""
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
