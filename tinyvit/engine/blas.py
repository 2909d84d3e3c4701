"""What tinyvit needs from the libraries below NumPy: the number of BLAS threads, other functions of
BLAS, the name of its kernels, and that freed memory is kept.

All of it goes through ctypes, and tinyvit does without it where it is not available.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np


def one_blas_thread() -> contextlib.AbstractContextManager[None]:
    """Within this context, matrix products run on the calling thread, so that several can run in parallel."""
    return blas_threads(1)


@contextlib.contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Within this context, each matrix product runs on `count` threads.

    The whole process has one such number. If several threads of a program are in this context at the same
    time, the last to enter chooses it, and the last to leave restores the number from before the first.
    """
    functions = _openblas_thread_functions()
    if functions is None:  # another BLAS (macOS Accelerate, MKL): leave the choice to it
        yield
        return
    get_threads, set_threads = functions
    with _lock:
        if not _chosen:
            _chosen.append(get_threads())
        _chosen.append(count)
        set_threads(count)
    try:
        yield
    finally:
        with _lock:
            del _chosen[len(_chosen) - 1 - _chosen[::-1].index(count)]
            set_threads(_chosen[-1])
            if len(_chosen) == 1:
                _chosen.clear()


_lock = threading.Lock()
_chosen: list[int] = []  # what was there before, then what each who is within asked for


def keep_freed_memory() -> None:
    """Ask glibc to keep the blocks that NumPy frees.

    By default, large blocks are returned to the kernel at once, and every new temporary array has to be
    mapped again page by page. In measurements that took a seventh to a third of a training step. Only on
    Linux with glibc.
    """
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL("libc.so.6").mallopt
        trim_threshold, top_pad, mmap_threshold = -1, -2, -3  # M_TRIM_THRESHOLD and so on, of malloc.h
        mallopt(mmap_threshold, 32 * 1024 * 1024)  # the maximum that glibc accepts
        mallopt(trim_threshold, 1024 * 1024 * 1024)
        mallopt(top_pad, 64 * 1024 * 1024)  # as large as a heap of a thread, which is then never unmapped


def openblas_function(name: str) -> tuple[Any, type] | None:
    """A function of the OpenBLAS in NumPy's wheel, by its name in cblas.h, and the type of its integers.

    None if NumPy uses another BLAS.
    """
    for library in _openblas_libraries():
        for prefix, suffix in (("scipy_", "64_"), ("", "64_"), ("scipy_", ""), ("", "")):
            function = getattr(library, f"{prefix}{name}{suffix}", None)
            if function is not None:
                return function, ctypes.c_int64 if suffix else ctypes.c_int
    return None


def openblas_kernels() -> str:
    """The processor for which OpenBLAS's kernels are written that are in use here, such as SkylakeX.

    OpenBLAS chooses them when it is loaded, unless the environment variable OPENBLAS_CORETYPE does. It is an
    empty string if NumPy uses another BLAS.
    """
    found = openblas_function("openblas_get_corename")
    if found is None:
        return ""
    function = found[0]
    function.restype = ctypes.c_char_p
    return function().decode()


@functools.cache
def _openblas_thread_functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """The functions that get and set OpenBLAS's number of threads."""
    get, set_ = openblas_function("openblas_get_num_threads"), openblas_function("openblas_set_num_threads")
    return (get[0], set_[0]) if get and set_ else None


@functools.cache
def _openblas_libraries() -> list[ctypes.CDLL]:
    """The OpenBLAS libraries in NumPy's wheel: one, or none if NumPy uses another BLAS."""
    package = Path(np.__file__).parent
    folders = (package.parent / "numpy.libs", package / ".dylibs")
    return [ctypes.CDLL(str(path)) for folder in folders for path in sorted(folder.glob("*openblas*"))]
