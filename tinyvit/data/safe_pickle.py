"""Reading the pickles of the CIFAR data sets without unpickling them.

A pickle is a small program: it may name and call any function of any module, take a gigabyte of memory with
eight bytes, or build pairs of pairs that nothing can compare in a lifetime. CIFAR's pickles need little of
that language: numbers, strings, lists, tuples, dictionaries, and three names from NumPy, which rebuild an
array of bytes. The standard library's pickletools cuts a pickle into instructions. Here those that CIFAR
needs are carried out one by one, in bounded memory; every other instruction and every other name is refused.
"""

import mmap
import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from tinyvit.errors import UserError
from tinyvit.files.download import REDOWNLOAD
from tinyvit.files.reading import open_regular

MOST_INSTRUCTIONS = 1_000_000  # official files have two to five for each image
_MARK = object()  # on the stack, where a list of values begins


def load_pickle(path: Path) -> dict[bytes, Any]:
    """The pickled dictionary: plain Python values and uint8 arrays; Python 2 strings become bytes.

    It takes up to twice as much memory as the file, and 200 MB. Raises UserError if the pickle requests
    anything else, or is truncated or damaged.
    """
    try:
        with open_regular(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            loaded = _Machine().run(content)
        return {key: value.array if isinstance(value, _Array) else value for key, value in loaded.items()}
    except UserError as error:
        raise UserError(f"{path} {error}") from error
    except Exception as error:  # a damaged pickle may fail in any way at all
        raise UserError(
            f"{path} cannot be read ({error}), expected a pickled dictionary: "
            f"it is truncated or damaged. {REDOWNLOAD}"
        ) from error


class _Dtype:
    """Stands in for numpy.dtype, and accepts only bytes."""

    def __init__(self, code: bytes | str, *copy_flags: Any) -> None:
        if code not in (b"u1", "u1"):
            raise UserError(
                f"contains an array of another type, expected uint8: it is not a CIFAR batch. {REDOWNLOAD}"
            )

    def set(self, state: tuple) -> None:
        """Ignore byte order and the like, which do not apply to bytes."""


class _Array:
    """Stands in for numpy.ndarray: created empty, then given its shape and content."""

    def __init__(self, *empty_array: Any) -> None:
        self.array = np.empty(0, dtype=np.uint8)

    def set(self, state: tuple) -> None:
        """Take the state that an array was pickled with."""
        _version, shape, dtype, fortran_order, content = state
        if not isinstance(dtype, _Dtype):
            raise UserError(f"contains an array without a type: it is not a CIFAR batch. {REDOWNLOAD}")
        flat = np.frombuffer(content, dtype=np.uint8)
        self.array = flat.reshape(shape, order="F" if fortran_order else "C")


_STAND_INS = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,  # as NumPy 1 spelled it
    ("numpy._core.multiarray", "_reconstruct"): _Array,  # as NumPy 2 does
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
}


class _Machine:
    """Carries out the instructions of a pickle: a stack of values, and a memo of values by number."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, content: mmap.mmap) -> dict[Any, Any]:
        """The dictionary that a pickle describes."""
        for count, (instruction, argument, _) in enumerate(pickletools.genops(cast(BinaryIO, content))):
            name = instruction.name
            if name == "STOP":
                break
            if name not in _INSTRUCTIONS or count == MOST_INSTRUCTIONS:
                raise UserError(
                    f"asks for {name}, or for more instructions than a CIFAR batch has: it may be malicious, "
                    "and nothing was run. Delete it and download the data set from its official page."
                )
            _INSTRUCTIONS[name](self, argument)
        (result,) = self.stack
        if not isinstance(result, dict):
            raise ValueError("it is not a dictionary")
        return result

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def push_bytes(self, text: str) -> None:
        """A string of Python 2: pickletools decodes it, one character for each byte."""
        self.stack.append(text.encode("latin-1"))

    def remember(self, key: int | None) -> None:
        self.memo[len(self.memo) if key is None else key] = self.stack[-1]

    def collect(self) -> list[Any]:
        """Take all values above the last mark, and the mark."""
        values: list[Any] = []
        while (value := self.stack.pop()) is not _MARK:
            values.append(value)
        return values[::-1]

    def pop(self, count: int) -> list[Any]:
        """Take the uppermost values."""
        return [self.stack.pop() for _ in range(count)][::-1]

    def append(self, values: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not list:
            raise ValueError("it adds to what is not a list")
        target.extend(values)

    def set_items(self, values: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not dict or len(values) % 2:
            raise ValueError("it adds to what is not a dictionary")
        for key, value in zip(values[::2], values[1::2], strict=True):
            if type(key) not in (bytes, str):
                raise ValueError("a key is not a string")
            target[key] = value

    def find(self, module: Any, name: Any) -> None:
        if type(module) is not str or type(name) is not str:
            raise ValueError("it asks for what has no name")
        found = _STAND_INS.get((module, name))
        if found is None:
            raise UserError(
                f"asks to load {module}.{name}, expected plain NumPy arrays: it may be malicious, and "
                "nothing was run. Delete it and download the data set from its official page."
            )
        self.stack.append(found)

    def call(self) -> None:
        stand_in, arguments = self.pop(2)
        if stand_in not in (_Array, _Dtype) or type(arguments) is not tuple:
            raise ValueError("it calls what is not a function")
        self.stack.append(stand_in(*arguments))

    def set_state(self) -> None:
        target, state = self.pop(2)
        if type(target) not in (_Array, _Dtype) or type(state) is not tuple:
            raise ValueError("it sets the state of what has none")
        target.set(state)
        self.stack.append(target)


_PUSHED: tuple[str, ...] = ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1")
_PUSHED += ("BINBYTES", "SHORT_BINBYTES", "BINBYTES8")
_PUSHED += ("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8")
_INSTRUCTIONS: dict[str, Callable[[_Machine, Any], None]] = {
    **dict.fromkeys(("PROTO", "FRAME"), lambda machine, _: None),
    **dict.fromkeys(_PUSHED, _Machine.push),
    **dict.fromkeys(("STRING", "BINSTRING", "SHORT_BINSTRING"), _Machine.push_bytes),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), _Machine.remember),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda machine, key: machine.push(machine.memo[key])),
    "NONE": lambda machine, _: machine.push(None),
    "NEWTRUE": lambda machine, _: machine.push(True),
    "NEWFALSE": lambda machine, _: machine.push(False),
    "MARK": lambda machine, _: machine.push(_MARK),
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "EMPTY_TUPLE": lambda machine, _: machine.push(()),
    "TUPLE": lambda machine, _: machine.push(tuple(machine.collect())),
    "TUPLE1": lambda machine, _: machine.push(tuple(machine.pop(1))),
    "TUPLE2": lambda machine, _: machine.push(tuple(machine.pop(2))),
    "TUPLE3": lambda machine, _: machine.push(tuple(machine.pop(3))),
    "LIST": lambda machine, _: machine.push(machine.collect()),
    "APPEND": lambda machine, _: machine.append(machine.pop(1)),
    "APPENDS": lambda machine, _: machine.append(machine.collect()),
    "SETITEM": lambda machine, _: machine.set_items(machine.pop(2)),
    "SETITEMS": lambda machine, _: machine.set_items(machine.collect()),
    "GLOBAL": lambda machine, names: machine.find(*names.split(" ", 1)),
    "STACK_GLOBAL": lambda machine, _: machine.find(*machine.pop(2)),
    "REDUCE": lambda machine, _: machine.call(),
    "BUILD": lambda machine, _: machine.set_state(),
}
