"""Reading the pickles of the CIFAR data sets, and nothing else that a pickle can say.

A pickle is a small program: it may name and call any function of any module, take a gigabyte of memory with
eight bytes, or build pairs of pairs that nothing can compare in a lifetime. CIFAR's pickles need little of
that language: numbers, strings, lists, tuples, dictionaries, and three names from NumPy, which rebuild an
array of bytes. The standard library has an interpreter of that language in Python, which takes no memory for
what is not in the file. Here it is left with the instructions that CIFAR needs, and those three names stand
for classes of ours. (The usual one, pickle.Unpickler, is written in C: a restricted find_class makes it as
harmless, but b"\\x80\\x02}r\\xff\\xff\\xff\\x7f." still costs it 32 GB.)
"""

import mmap
import pickle
import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.support.errors import UserError
from tinyvit.support.files import open_regular
from tinyvit.support.files.download import REDOWNLOAD

MOST_INSTRUCTIONS = 1_000_000  # official files have two to five for each image


def load_pickle(path: Path) -> dict[bytes, Any]:
    """The pickled dictionary: plain Python values and uint8 arrays; Python 2 strings become bytes.

    It takes up to twice as much memory as the file, and 200 MB. Raises UserError if the pickle requests
    anything else, or is truncated or damaged.
    """
    try:
        with open_regular(path) as file, _Content(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            loaded = _Unpickler(content, encoding="bytes").load()
        if type(loaded) is not _Dict:
            raise ValueError("it is not a dictionary")
        return {key: value.array if isinstance(value, _Array) else value for key, value in loaded.items()}
    except UserError as error:
        raise UserError(f"{path} {error}") from error
    except Exception as error:  # a damaged pickle may fail in any way at all
        raise UserError(
            f"{path} cannot be read ({str(error) or type(error).__name__}), expected a pickled dictionary: "
            f"it is truncated or damaged. {REDOWNLOAD}"
        ) from error


class _Content(mmap.mmap):
    """A file whose last line, too, has to end."""

    def readline(self) -> bytes:
        line = super().readline()
        if not line.endswith(b"\n"):
            raise EOFError("it ends in the middle of a line")
        return line


_InPython: Any = pickle._Unpickler  # undocumented, but in every Python


class _Unpickler(_InPython):
    """The unpickler in Python, with the instructions and the names that CIFAR needs."""

    def load(self) -> Any:
        """The value that the pickle describes."""
        self.dispatch = _Instructions()
        return super().load()

    def find_class(self, module: str, name: str) -> type:
        """The class that stands for a name of NumPy; UserError for every other name."""
        if (module, name) not in _STAND_INS:
            raise UserError(
                f"asks to load {module}.{name}, expected plain NumPy arrays: it may be malicious, and "
                "nothing was run. Delete it and download the data set from its official page."
            )
        return _STAND_INS[module, name]


class _Instructions(dict[int, Callable[[Any], None]]):
    """The instructions that CIFAR needs, by their codes. Looked up for each one, which is counted."""

    def __init__(self) -> None:
        super().__init__({code: _InPython.dispatch[code] for code in _CODES})
        self[pickle.EMPTY_DICT[0]] = lambda unpickler: unpickler.append(_Dict())
        self.count = 0

    def __getitem__(self, code: int) -> Callable[[Any], None]:
        self.count += 1
        if code not in self or self.count > MOST_INSTRUCTIONS:
            name = next((each.name for each in pickletools.opcodes if ord(each.code) == code), hex(code))
            raise UserError(
                f"asks for {name}, or for more instructions than a CIFAR batch has: it may be malicious, and "
                "nothing was run. Delete it and download the data set from its official page."
            )
        return super().__getitem__(code)


class _Dict(dict):
    """A dictionary whose keys are strings: to find any other one may take for ever."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) not in (bytes, str):
            raise ValueError("a key is not a string")
        super().__setitem__(key, value)


class _Dtype:
    """Stands in for numpy.dtype, and accepts only bytes."""

    def __init__(self, code: bytes | str, *copy_flags: Any) -> None:
        if code not in (b"u1", "u1"):
            raise UserError(
                f"contains an array of another type, expected uint8: it is not a CIFAR batch. {REDOWNLOAD}"
            )

    def __setstate__(self, state: tuple) -> None:
        """Ignore byte order and the like, which do not apply to bytes."""


class _Array:
    """Stands in for numpy.ndarray: created empty, then given its shape and content."""

    def __init__(self, *empty_array: Any) -> None:
        self.array = np.empty(0, dtype=np.uint8)

    def __setstate__(self, state: tuple) -> None:
        """Take the state that an array was pickled with."""
        _version, shape, dtype, fortran_order, content = state
        if not isinstance(dtype, _Dtype):
            raise UserError(f"contains an array without a type: it is not a CIFAR batch. {REDOWNLOAD}")
        flat = np.frombuffer(content, dtype=np.uint8)
        self.array = flat.reshape(shape, order="F" if fortran_order else "C")


_STAND_INS: dict[tuple[str, str], type] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,  # as NumPy 1 spelled it
    ("numpy._core.multiarray", "_reconstruct"): _Array,  # as NumPy 2 does
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
}
_NAMES = "PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 "
_NAMES += "STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 "
_NAMES += "UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8 "
_NAMES += "PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET "
_NAMES += "EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_DICT SETITEM SETITEMS "
_NAMES += "GLOBAL STACK_GLOBAL REDUCE BUILD"
_CODES = [getattr(pickle, name)[0] for name in _NAMES.split()]
