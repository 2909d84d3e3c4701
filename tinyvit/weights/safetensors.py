"""Reading and writing the safetensors format with NumPy alone.

    8 bytes      length n of the header, little-endian
    n bytes      header, JSON: {"name": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, ..}
    the rest     the numbers, little-endian, C order, at those offsets

Nothing in it can be executed. All claims of the header are checked against the file before they are used.

A large model has several such files, and an index, JSON, of which contains which array:

    {"metadata": {..}, "weight_map": {"vit.layernorm.bias": "model-00002-of-00002.safetensors", ..}}
"""

import json
import os
from collections import defaultdict
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tinyvit.support.errors import UserError
from tinyvit.support.files import LARGEST_TEXT, open_regular, parse_json, read_json
from tinyvit.support.files.atomic import write_atomically
from tinyvit.support.files.npz import from_bfloat16

INDEX = ".safetensors.index.json"  # the ending of an index
_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip
_LARGEST_HEADER = LARGEST_TEXT  # bytes; the format itself allows 100 million, real files need one million
_MOST_AXES, _LONGEST_AXIS = 64, 1 << 128  # NumPy's limit, and one that keeps messages short


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file; bfloat16 becomes float32, which represents every such number exactly.

    Raises UserError if the file is not a safetensors file, is truncated, or does not contain what it claims.
    """
    try:
        with open_regular(path) as file:
            data = np.fromfile(file, dtype=np.uint8)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}.") from error
    except MemoryError as error:
        raise _bad(path, "it does not fit into memory") from error
    header, body = _header(path, data)
    arrays, spans = {}, []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        dtype, shape, begin, end = _entry(path, name, entry, len(body))
        try:
            flat = body[begin:end].view(_DTYPES[dtype])
            arrays[name] = (from_bfloat16(flat) if dtype == "BF16" else flat).reshape(shape)
        except ValueError as error:  # hundreds of axes, or no numbers in an impossible shape
            raise _bad(path, f"{name!r} of shape {shape}: {error}") from error
        spans.append((begin, end))
    covered = 0
    for begin, end in sorted(spans):
        if begin != covered:
            raise _bad(path, f"its arrays overlap or leave a gap at byte {covered:,}")
        covered = end
    if covered != len(body):
        raise _bad(path, f"{len(body) - covered:,} bytes at its end belong to no array")
    return arrays


def read_shards(index: Path) -> dict[str, np.ndarray]:
    """All arrays of the files that an index names.

    Every file must be in the folder of the index and contain exactly the arrays that the index lists for it.
    Raises UserError if that is not so, if a file is damaged, or if the index is unreadable.
    """
    names_in: dict[str, set[str]] = defaultdict(set)
    for name, file in read_index(index).items():
        names_in[file].add(name)
    arrays: dict[str, np.ndarray] = {}
    for file, expected in sorted(names_in.items()):
        shard = read_safetensors(index.with_name(file))
        if odd := sorted(expected ^ shard.keys()):
            has = "lacks" if odd[0] in expected else "also contains"
            raise _bad_index(index, f"{file} {has} {odd[0]!r}", "Download all files again")
        arrays |= shard
    return arrays


def read_index(index: Path) -> dict[str, str]:
    """The file that contains each array, by the array's name. Raises UserError like read_shards."""
    try:
        file_of = read_json(index)["weight_map"]
        files = list(file_of.values())
    except OSError as error:
        raise UserError(f"cannot read {index}: {error.strerror or error}.") from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        why = f"it does not say which file contains what ({error})"
        raise _bad_index(index, why, "Download it again") from error
    for file in files:  # which has to be in the folder itself, on every system: without a path or a drive
        if not isinstance(file, str) or not file.endswith(".safetensors") or set(file) & set("/\\:\0"):
            why = f"{file!r} is not the name of a .safetensors file beside it"
            raise _bad_index(index, why, "Do not trust it")
    for file in sorted(set(files)):
        if not os.path.isfile(index.with_name(file)):  # unlike is_file, not an error for a name too long
            raise _bad_index(index, f"{file} is missing", "Download it too, into the same folder")
    return file_of


def names_in_safetensors(path: Path) -> list[str]:
    """The names of a file's arrays; only the header is read. Raises UserError like read_safetensors."""
    header, _ = _header(path, _mapped(path))
    return [name for name in header if name != "__metadata__"]


def read_metadata(path: Path) -> dict[str, str]:
    """The metadata in the header of a file that read_safetensors has read."""
    header, _ = _header(path, _mapped(path))
    metadata = header.get("__metadata__")
    return metadata if isinstance(metadata, dict) else {}


def write_safetensors(
    path: Path, arrays: dict[str, np.ndarray], metadata: dict[str, str] | None = None
) -> None:
    """Write arrays of floating-point numbers, wider ones as float64; the same arrays give the same bytes."""
    arrays = {
        name: array.astype("<f8" if array.itemsize > 8 else array.dtype.newbyteorder("<"), copy=False)
        for name, array in arrays.items()
    }
    header: dict[str, object] = {"__metadata__": {"writer": "tinyvit"} | (metadata or {})}
    names = {np.dtype(text): name for name, text in _DTYPES.items() if name != "BF16"}  # BF16 has no dtype
    offset = 0
    for name, array in arrays.items():
        end = offset + array.nbytes
        shape, offsets = list(array.shape), [offset, end]
        header[name] = {"dtype": names[array.dtype], "shape": shape, "data_offsets": offsets}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers start at a multiple of 8 bytes

    def write(file: BinaryIO) -> None:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).tobytes())

    write_atomically(path, write)


def _mapped(path: Path) -> np.ndarray:
    """The bytes of a file, memory-mapped, so that none of them is read yet."""
    try:
        with open_regular(path) as file:
            return np.memmap(file, np.uint8, mode="r")
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise _bad(path, str(error)) from error


def _header(path: Path, data: np.ndarray) -> tuple[dict, np.ndarray]:
    """The header and the bytes after it."""
    if len(data) < 8:
        raise _bad(path, f"it has {len(data)} bytes, expected at least 8")
    length = int.from_bytes(data[:8].tobytes(), "little")
    if length > len(data) - 8:
        raise _bad(
            path, f"its header claims {length:,} bytes, but {len(data) - 8:,} follow the first 8 in the file"
        )
    if length > _LARGEST_HEADER:
        raise _bad(path, f"its header has {length:,} bytes, expected no more than {_LARGEST_HEADER:,}")
    try:
        text = data[8 : 8 + length].tobytes().decode("utf-8")
        header = parse_json(text, object_pairs_hook=_without_duplicates)
    except ValueError as error:  # JSONDecodeError and UnicodeDecodeError are ValueErrors
        raise _bad(path, f"its header is unreadable: {error}") from error
    if not isinstance(header, dict):
        raise _bad(path, "its header is not a JSON object")
    return header, data[8 + length :]


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name, value in pairs:
        if name in table:
            raise ValueError(f"{name!r} is in it twice")
        table[name] = value
    return table


def _entry(path: Path, name: str, entry: Any, available: int) -> tuple[str, tuple[int, ...], int, int]:
    """The dtype, shape, start and end of an array, each checked."""
    try:
        dtype, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
        sizes_are_whole = len(shape) <= _MOST_AXES and all(
            type(n) is int and 0 <= n < _LONGEST_AXIS for n in (*shape, begin, end)
        )
    except (TypeError, KeyError, ValueError):
        raise _bad(path, f"the description of {name!r} is not one of an array") from None
    if not sizes_are_whole:
        raise _bad(path, f"the description of {name!r} is not one of an array")
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise _bad(path, f"{name!r} has the unknown dtype {dtype!r}, expected one of {', '.join(_DTYPES)}")
    size = prod(shape) * np.dtype(_DTYPES[dtype]).itemsize
    if end - begin != size:
        raise _bad(
            path, f"{name!r} of shape {shape} and dtype {dtype} needs {size:,} bytes, has {end - begin:,}"
        )
    if end > available:
        raise _bad(path, f"{name!r} ends at byte {end:,}, but there are {available:,}: the file is truncated")
    return dtype, shape, begin, end


def _bad(path: Path, why: str) -> UserError:
    return UserError(f"{path} is not a usable safetensors file: {why}. Get it again, or use another file.")


def _bad_index(index: Path, why: str, remedy: str) -> UserError:
    return UserError(f"{index} cannot be used: {why}. {remedy}.")
