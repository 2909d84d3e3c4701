"""CuPy's RawModule, for CUDA kernels that run on the CPU."""

from __future__ import annotations

import ctypes
import mmap
import operator
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np

from lessons.cuda_on_cpu import compiler
from lessons.cuda_on_cpu.arguments import Parameter, pack
from lessons.cuda_on_cpu.checking import Guarded, current
from lessons.cuda_on_cpu.source import bare_kernels

STACK_BYTES = 128 * 1024  # for one thread; the system gives memory only where it is touched
MOST_THREADS = 1024
MOST_SHARED = 227 * 1024
MOST_CHECKED_BLOCKS = 2**21 - 2  # as runtime/cells.h numbers them
MESSAGE_BYTES = 4000
_lock = threading.Lock()  # one launch at a time, on one set of stacks
_stacks: list[mmap.mmap] = []


class LaunchError(RuntimeError):
    """A kernel did something that is wrong or undefined on a GPU."""


class _Entry(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("run", ctypes.c_void_p),
        ("parameters", ctypes.POINTER(Parameter)),
        ("count", ctypes.c_int),
    )


class _Launch(ctypes.Structure):
    """runtime/state.h has the same fields."""

    _fields_ = (
        ("entry", ctypes.POINTER(_Entry)),
        ("arguments", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_size_t),
        ("allowed", ctypes.c_size_t),
        ("seed", ctypes.c_ulonglong),
        ("stacks", ctypes.c_void_p),
        ("message", ctypes.c_void_p),
        ("stack_bytes", ctypes.c_size_t),
        ("message_bytes", ctypes.c_size_t),
        ("checks", ctypes.c_void_p),
    )


class RawModule:
    """Kernels in CUDA C++, compiled for the CPU when the first one is asked for.

    code is their text, and path is what messages call it. Of the options, -I and -D count. name_expressions
    lists the template instances for get_function, which raises NoCompiler where there
    is no C++ compiler, and CompileError.
    """

    def __init__(
        self,
        *,
        code: str,
        path: str | Path | None = None,
        options: tuple[str, ...] = (),
        name_expressions: tuple[str, ...] | list[str] = (),
        **_: Any,
    ) -> None:
        self.code, self.options = code, tuple(options)
        self.name = str(path) if path else "kernel.cu"
        self.names = list(dict.fromkeys([*name_expressions, *bare_kernels(code)]))
        self._libraries: dict[bool, ctypes.CDLL] = {}

    def get_function(self, name: str) -> Kernel:
        """The kernel of this name expression, or of this name if it is extern "C". Raises LookupError."""
        if name not in self.names:
            known = ", ".join(self.names) or "it has none"
            raise LookupError(
                f"{name} is not among the name expressions of the module: {known}. "
                'Put it into name_expressions, or write extern "C" before __global__'
            )
        self.library(current().checked)
        return Kernel(self, name)

    def library(self, checked: bool) -> ctypes.CDLL:
        """The compiled kernels, plain or checked."""
        if checked not in self._libraries:
            folders, flags = _split(self.options)
            built = compiler.build(self.code, self.name, folders, flags, self.names, checked)
            self._libraries[checked] = compiler.load(built)
        return self._libraries[checked]

    def line_of(self, code: int) -> str:
        """The line of the kernel's text that an address in the checked library comes from."""
        return compiler.line_of(Path(self._libraries[True]._name), code)


class Kernel:
    """A kernel that can be launched: kernel(grid, block, args, shared_mem=0)."""

    def __init__(self, module: RawModule, name: str) -> None:
        self.module, self.name = module, name
        self.max_dynamic_shared_size_bytes = 48 * 1024  # raise it for a launch that needs more, as in CuPy

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...], *, shared_mem: int = 0
    ) -> None:
        """Run all of it. Raises TypeError for arguments that do not fit, LaunchError for a faulty kernel."""
        grid, block = _three("grid", grid), _three("block", block)
        if min(*grid, *block) < 1 or np.prod(block) > MOST_THREADS or block[2] > 64 or max(grid[1:]) > 65535:
            raise LaunchError(
                f"{self.name}: no GPU takes a grid of {grid} blocks of {block} threads: a block has 1 to "
                f"{MOST_THREADS:,}, at most 64 of them along z, and a grid is never empty"
            )
        if shared_mem > min(self.max_dynamic_shared_size_bytes, MOST_SHARED):
            raise LaunchError(
                f"{self.name}: {shared_mem:,} bytes of shared memory, and "
                f"{self.max_dynamic_shared_size_bytes:,} are allowed: set max_dynamic_shared_size_bytes first"
            )
        way = current()
        entry = self._entry(self.module.library(way.checked))
        try:
            values, arrays = pack([entry.parameters[i] for i in range(entry.count)], args)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        launch = _Launch(entry=ctypes.pointer(entry), grid=grid, block=block)
        launch.shared_bytes, launch.seed = shared_mem, way.seed
        launch.allowed = self.max_dynamic_shared_size_bytes
        if not way.checked:
            return self._launch(launch, values, False)
        if np.prod(grid, dtype=np.int64) > MOST_CHECKED_BLOCKS:
            raise LaunchError(f"{self.name}: more than {MOST_CHECKED_BLOCKS:,} blocks are too many to check")
        guarded = Guarded(arrays)
        for array in arrays:
            values[array.number][0] = guarded.address(array)
        launch.checks = ctypes.addressof(guarded.struct)
        self._launch(launch, values, True)
        guarded.copy_back()
        way.launches.append(guarded.traffic(self.name))

    def _launch(self, launch: _Launch, values: list[np.ndarray], checked: bool) -> None:
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        pointers = np.array([value.ctypes.data for value in values], np.uintp)
        launch.arguments = pointers.ctypes.data
        launch.message, launch.message_bytes = ctypes.addressof(message), MESSAGE_BYTES
        with _lock:
            launch.stacks, launch.stack_bytes = _stack_address(), STACK_BYTES
            failed = self.module.library(checked).tinyvit_launch(ctypes.byref(launch))
        if failed:
            text = message.value.decode()
            text = re.sub(r"\{(\d+)\}", lambda code: self.module.line_of(int(code[1])), text)
            raise LaunchError(f"{self.name}, {text}. The order of threads was that of seed {launch.seed}.")

    def _entry(self, library: ctypes.CDLL) -> _Entry:
        entries = (_Entry * len(self.module.names)).in_dll(library, "tinyvit_entries")
        return entries[self.module.names.index(self.name)]


def _three(what: str, sizes: tuple[int, ...]) -> tuple[int, int, int]:
    try:
        whole = tuple(operator.index(size) for size in sizes)
    except TypeError:
        raise TypeError(f"{what} is a tuple of whole numbers (divide with //), not {sizes!r}") from None
    if not 1 <= len(whole) <= 3:
        raise TypeError(f"{what} has one to three numbers, not {sizes!r}")
    x, y, z = (*whole, 1, 1)[:3]
    return x, y, z


def _stack_address() -> int:
    if not _stacks:
        _stacks.append(mmap.mmap(-1, MOST_THREADS * STACK_BYTES))
    return ctypes.addressof(ctypes.c_char.from_buffer(_stacks[0]))


def _split(options: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    """The folders of -I, and the options that mean something to a compiler for the CPU."""
    words = iter(options)
    folders, flags = [], []
    for word in words:
        if word in ("-I", "--include-path"):
            folders.append(Path(next(words)))
        elif word.startswith("-I"):
            folders.append(Path(word[2:]))
        elif word.startswith("--include-path="):
            folders.append(Path(word.split("=", 1)[1]))
        elif word.startswith("-D"):
            flags.append(word)
    return folders, flags
