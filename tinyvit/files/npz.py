"""Reading .npz files: zip archives with one .npy file for each array.

    6 bytes      magic, b"\\x93NUMPY"; then the version and the length of the header
    header       the text of a Python dict: dtype, order and shape
    the rest     the numbers

They are read member by member here, so that the claims of a header are checked before any memory is allocated
for it, and so that nothing is ever unpickled.
"""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from math import prod
from pathlib import Path

import numpy as np

from tinyvit.errors import UserError

REMEDY = "Delete it and download it again."
_READ_HEADER = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# The exceptions that zipfile, zlib and numpy raise for a damaged file.
_DAMAGE = (OSError, ValueError, EOFError, KeyError, TypeError, RuntimeError, OverflowError)
_DAMAGE += (SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error)


def names_in_npz(path: Path) -> list[str]:
    """The names of a file's arrays. Raises UserError if it is not an .npz file."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except _DAMAGE as error:
        raise _unusable(path, error) from error


def read_npz(path: Path, remedy: str = REMEDY) -> dict[str, np.ndarray]:
    """All arrays of a file; bfloat16, which NumPy writes as two bytes without a type, becomes float32.

    Raises UserError if the file is damaged, does not contain what it claims, or contains Python objects;
    remedy is the last sentence of its message.
    """
    arrays: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                if name in arrays:
                    raise ValueError(f"{name!r} is in it twice")
                arrays[name] = _array(archive, member)
    except _DAMAGE as error:
        raise _unusable(path, error, remedy) from error
    return arrays


def from_bfloat16(halves: np.ndarray) -> np.ndarray:
    """bfloat16 numbers, given as uint16, as float32: a bfloat16 is the upper half of a float32."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


def _unusable(path: Path, error: Exception, remedy: str = REMEDY) -> UserError:
    if isinstance(error, OSError) and error.errno:
        return UserError(f"cannot read {path}: {error.strerror}.")
    why = (str(error).splitlines() or [type(error).__name__])[0].removesuffix(".")
    return UserError(f"{path} is not a usable .npz file: {why}. {remedy}")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    name = member.filename
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in _READ_HEADER:
            raise ValueError(f"{name!r} has version {version}, expected (1, 0) or (2, 0)")
        shape, is_fortran, dtype = _READ_HEADER[version](file)
        if dtype.hasobject:
            raise ValueError(f"{name!r} contains pickled Python objects, which are never loaded")
        needed, held = prod(shape) * dtype.itemsize, member.file_size - file.tell()
        if needed != held:
            raise ValueError(
                f"{name!r} of shape {shape} and dtype {dtype} needs {needed:,} bytes, has {held:,}"
            )
        flat = np.frombuffer(file.read(), dtype)
    if dtype == np.dtype("V2"):
        flat = from_bfloat16(flat.view(np.uint16))
    return flat.reshape(shape, order="F" if is_fortran else "C")
