"""NumPy or CuPy: which one is available, which one was requested, and moving arrays between them.

Every other file works on whatever arrays it is given: the device follows the data. Except for in_one_file,
which stands alone, this is the only file that imports CuPy, and it does so only when a GPU is requested.

Threads to share work among are here too, as many as the system grants.
"""

import contextlib
import importlib
import os
import re
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from types import ModuleType
from typing import Any

import numpy as np

Array = Any  # a numpy.ndarray or a cupy.ndarray


@dataclass(frozen=True)
class Device:
    """The place where arrays live.

    xp is the array module (numpy or cupy), and label is its name in printed lines. note, if not empty, is one
    line that tells the user why the requested GPU is not used and what to do about it.
    """

    xp: ModuleType
    label: str
    note: str = ""

    @property
    def is_gpu(self) -> bool:
        return self.xp is not np


def array_module(*arrays: Array) -> ModuleType:
    """The module, numpy or cupy, whose functions work on these arrays."""
    if all(isinstance(array, np.ndarray | np.generic) for array in arrays):
        return np
    cupy = sys.modules.get("cupy")  # a CuPy array can exist only if CuPy has been imported
    return cupy.get_array_module(*arrays) if cupy else np


def select_device(wanted: str = "auto", number: int = 0) -> Device:
    """The device for 'auto', 'cpu' or 'gpu'; of several GPUs the one with this number, which becomes current.

    Without a usable GPU, 'gpu' returns the CPU with a note that says what is wrong and how to fix it; 'auto'
    returns the CPU silently.
    """
    if wanted == "cpu":
        return Device(np, "NumPy")
    if wanted not in ("auto", "gpu"):
        raise ValueError(f"device is {wanted!r}, expected 'auto', 'cpu' or 'gpu'")
    cupy, reason = _usable_cupy()
    if cupy is None:
        note = f"no GPU can be used: {reason}. NumPy is used instead."
        return Device(np, "NumPy", note if wanted == "gpu" else "")
    if number:
        cupy.cuda.Device(number % cupy.cuda.runtime.getDeviceCount()).use()
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    return Device(cupy, f"CuPy on {name}")


def training_note(device: Device, model: str, length: str) -> str:
    """The note for a training run that falls back to the CPU; empty if the requested device is used.

    It also says that the CPU recipe is used, with that recipe's model and its length, such as '22 epochs'.
    """
    return device.note and f"{device.note} This run follows the CPU recipe: {model}, {length}."


def to_numpy(array: Array) -> np.ndarray:
    """The array in main memory: itself if it is already there, otherwise a copy (which waits for the GPU)."""
    return array if array_module(array) is np else array.get()


def nccl_module() -> ModuleType:
    """cupy.cuda.nccl, which is not imported with CuPy; its `available` says whether NCCL was found."""
    return importlib.import_module("cupy.cuda.nccl")


def _usable_cupy() -> tuple[ModuleType | None, str]:
    """CuPy, if it can create and multiply arrays; otherwise None, and what is wrong with the remedy."""
    try:
        cupy = importlib.import_module("cupy")
        runtime = cupy.cuda.runtime
    except Exception as error:  # missing, partly installed, or with a missing or incompatible library
        if isinstance(error, ModuleNotFoundError) and error.name == "cupy" and not _cupy_packages():
            return None, f"CuPy is not installed; on a machine with an NVIDIA GPU, run pip install {_USUAL}"
        return None, _broken(error)
    try:
        if runtime.getDeviceCount() == 0:
            return None, _nothing_visible()
        probe = cupy.ones((2, 2), dtype=np.float32)
        runtime.deviceSynchronize()
        float((probe @ probe + 1).sum())  # compiles a kernel and calls cuBLAS: both libraries are needed
    except Exception as error:  # CUDARuntimeError among others; its type exists only where CuPy is imported
        return None, _no_gpu(runtime, error)
    return cupy, ""


def _no_gpu(runtime: ModuleType, error: Exception) -> str:
    """The reason why GPUs cannot be counted or cannot compute, with the remedy."""
    text, line = str(error), _first_line(error)
    driver, needed = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    if driver == 0:  # CUDA reports a missing driver as too old, but without a version
        return (
            "there is no NVIDIA driver; install one from nvidia.com/drivers, or, in Docker, start the "
            "container with --gpus all"
        )
    if any(word in text for word in ("InsufficientDriver", "UnsupportedPtx", "UNSUPPORTED_PTX")):
        return _old_driver(driver, needed)
    if "NoDevice" in text:
        return _nothing_visible()
    if isinstance(error, runtime.CUDARuntimeError):
        return f"the GPU refuses to work ({line}); check with nvidia-smi that it works and is not in use"
    if "CUDA headers" in text or "CUDA root" in text:
        return f"the CUDA header files are missing; {install_cuda()}"
    if isinstance(error, ImportError | OSError) or "Failure finding" in text:
        return f"the CUDA libraries are missing ({line}); {install_cuda()}"
    return _broken(error)


def _nothing_visible() -> str:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return "the NVIDIA driver finds no GPU; check that nvidia-smi lists one"
    return (
        f"CUDA_VISIBLE_DEVICES={visible!r} leaves no GPU visible; unset it, or set it to the number of a GPU "
        "that nvidia-smi lists"
    )


def _old_driver(driver: int, needed: int) -> str:
    """The reason for a driver too old; versions are numbered as in CUDA, where 12040 is 12.4."""
    supported, wanted = (f"{number // 1000}.{number % 1000 // 10}" for number in (driver, needed))
    other = ""
    if driver // 1000 == 12 < needed // 1000:  # this driver does work with the CuPy for its own version
        other = f", or run pip uninstall {cupy_package()}, then pip install {_USUAL}"
    return (
        f"the NVIDIA driver is too old: it supports CUDA {supported}, but CuPy needs {wanted}; update it "
        f"from nvidia.com/drivers{other}"
    )


def _broken(error: Exception) -> str:
    """The reason for a CuPy that is installed but does not work."""
    packages = _cupy_packages()
    if len(packages) > 1:
        return (
            f"{len(packages)} CuPy packages are installed ({', '.join(packages)}) and conflict; run "
            f"pip uninstall {' '.join(packages)}, then pip install {_USUAL}"
        )
    return (
        f"CuPy is installed but does not work ({_first_line(error)}); run pip install --force-reinstall "
        f"{cupy_package()}"
    )


_USUAL = "cupy-cuda12x"
_PACKAGE = re.compile(r"(amd-)?cupy(-cuda\w+|-rocm[\w-]+)?")


def _cupy_packages() -> list[str]:
    """The installed packages that provide CuPy; there should be only one."""
    names = {distribution.metadata["Name"] or "" for distribution in metadata.distributions()}
    return sorted(filter(_PACKAGE.fullmatch, {name.lower().replace("_", "-") for name in names}))


def cupy_package() -> str:
    """The name of the installed package that provides CuPy, or of the usual one."""
    return next(iter(_cupy_packages()), _USUAL)


def install_cuda() -> str:
    """Instructions to install CUDA's libraries and headers, which CuPy 13.6 does not offer yet."""
    return f'run pip install --upgrade "{cupy_package()}[ctk]"'


def _first_line(error: BaseException) -> str:
    """The first informative line; CuPy puts the cause of an ImportError below a page of advice."""
    cause = error.__cause__ or error
    lines = (line.strip() for line in str(cause).splitlines())
    return next((line for line in lines if line.strip("=-")), type(cause).__name__)


class Pool(ThreadPoolExecutor):
    """A pool that, where no more threads can be started, does with those it has, or with the calling one."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """As ThreadPoolExecutor.submit; without a single thread, the work is done before it returns."""
        future = super().submit(work, *args, **kwargs)
        if self._threads or not future.cancel():
            return future
        done: Future = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done

    def _adjust_thread_count(self) -> None:
        with contextlib.suppress(RuntimeError, MemoryError):  # a limit on processes or on memory
            super()._adjust_thread_count()
