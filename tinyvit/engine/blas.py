"""What tinyvit needs from the libraries below NumPy: the number of BLAS threads, other functions of
BLAS, its name, and that freed memory is kept.

Which BLAS that is depends on where NumPy comes from: its wheels bring OpenBLAS (or use Apple's Accelerate),
Conda and Linux distributions link it to theirs, often Intel's MKL. All of it goes through ctypes, and tinyvit
does without it where it is not available.
"""

import contextlib
import ctypes
import functools
import importlib
import itertools
import os
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
    functions = _thread_functions()
    if functions is None:  # another BLAS, such as Accelerate: leave the choice to it
        yield
        return
    get_threads, set_threads = functions
    entry = object()
    try:  # from here on, since Ctrl-C can come at any moment
        with _lock:
            if not _chosen:
                _chosen[None] = get_threads()
            _chosen[entry] = count
            set_threads(count)
        yield
    finally:
        with _lock:
            _chosen.pop(entry, None)
            if _chosen:
                set_threads(list(_chosen.values())[-1])
            if len(_chosen) == 1:
                _chosen.clear()


_lock = threading.Lock()
_chosen: dict[object, int] = {}  # None: what was there before; then what each who is within asked for


def _after_fork() -> None:
    """Free the lock, and forget those who are within: the threads of the process that forked are not here."""
    global _lock
    _lock = threading.Lock()
    if _chosen and (functions := _thread_functions()):
        functions[1](_chosen[None])
    _chosen.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)


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
        mallopt(trim_threshold, 2**31 - 1)  # the largest int; a whole batch can take more than 1 GiB
        mallopt(top_pad, 64 * 1024 * 1024)  # as large as a heap of a thread, which is then never unmapped


def blas_function(name: str) -> tuple[Any, type] | None:
    """A function of the BLAS that NumPy uses, and the type of its integers; None if it has no such function.

    The name is without the prefixes and suffixes that libraries add: cblas_sgemm, for example.
    """
    names = ((prefix, suffix) for suffix in ("64_", "_64", "") for prefix in ("scipy_", ""))
    for (prefix, suffix), library in itertools.product(names, _libraries()):
        function = getattr(library, f"{prefix}{name}{suffix}", None)
        if function is not None:
            return function, ctypes.c_int64 if suffix else ctypes.c_int
    return None


def blas_name() -> str:
    """The BLAS that NumPy uses, such as "OpenBLAS (kernels for SkylakeX)" or "MKL"; empty if it is another.

    OpenBLAS chooses its kernels when it is loaded, unless the environment variable OPENBLAS_CORETYPE does.
    """
    if found := blas_function("openblas_get_corename"):
        corename = found[0]
        corename.restype = ctypes.c_char_p
        chosen = ", chosen by OPENBLAS_CORETYPE" if "OPENBLAS_CORETYPE" in os.environ else ""
        return f"OpenBLAS (kernels for {corename().decode()}{chosen})"
    return "MKL" if blas_function("MKL_Get_Max_Threads") else ""


@functools.cache
def _thread_functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """The functions that get and set the number of threads, of OpenBLAS or of MKL."""
    for get_name, set_name in (
        ("openblas_get_num_threads", "openblas_set_num_threads"),
        ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
    ):
        get, set_ = blas_function(get_name), blas_function(set_name)
        if get and set_:
            return get[0], set_[0]
    return None


@functools.cache
def _libraries() -> list[ctypes.CDLL]:
    """The libraries to search for the functions of BLAS.

    A name that is looked up in the compiled part of NumPy is also looked up in the libraries it is linked to,
    except on Windows. There, NumPy's wheel has OpenBLAS in a folder of its own.
    """
    compiled = importlib.import_module("numpy._core._multiarray_umath").__file__
    beside = sorted((Path(np.__file__).parent.parent / "numpy.libs").glob("*openblas*.dll"))
    libraries = []
    for path in (compiled, *beside):
        with contextlib.suppress(OSError):  # within an archive, for example
            libraries.append(ctypes.CDLL(str(path)))
    return libraries
