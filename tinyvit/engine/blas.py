"""Two settings of libraries below NumPy that the CPU engine needs: BLAS threads, and keeping freed memory.

Both are set through ctypes, both do nothing where they are not available, and neither changes a result.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

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
        trim_threshold, mmap_threshold = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
        mallopt(mmap_threshold, 32 * 1024 * 1024)  # the maximum that glibc accepts
        mallopt(trim_threshold, 1024 * 1024 * 1024)


@functools.cache
def _openblas_thread_functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """The functions that get and set OpenBLAS's number of threads, from the library in NumPy's wheel."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(str(path))
            for prefix, suffix in (("scipy_", "64_"), ("", "64_"), ("scipy_", ""), ("", "")):
                get = getattr(library, f"{prefix}openblas_get_num_threads{suffix}", None)
                set_ = getattr(library, f"{prefix}openblas_set_num_threads{suffix}", None)
                if get and set_:
                    return get, set_
    return None
