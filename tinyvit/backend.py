"""NumPy or CuPy: which is there, which was asked for, moving arrays between them.

Every other file works on whatever arrays it is given: the device follows the data. This is the only file that
imports CuPy, and it does so only when a GPU is asked for.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

Array = Any  # a numpy.ndarray or a cupy.ndarray


@dataclass(frozen=True)
class Device:
    """Where the arrays live.

    xp is the array module (numpy or cupy), label what to call it in a printed line, and note, if not empty,
    the one line that tells the user why a GPU asked for is not used and what to install.
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
    cupy = sys.modules.get("cupy")  # an array of CuPy's exists only if somebody imported it
    return cupy.get_array_module(*arrays) if cupy else np


def select_device(wanted: str = "auto") -> Device:
    """The device for 'auto', 'cpu' or 'gpu'.

    'gpu' without a usable GPU returns the CPU with a note that names the missing piece; 'auto' does so
    silently.
    """
    if wanted == "cpu":
        return Device(np, "NumPy")
    if wanted not in ("auto", "gpu"):
        raise ValueError(f"device is {wanted!r}, expected 'auto', 'cpu' or 'gpu'")
    cupy, missing = _usable_cupy()
    if cupy is None:
        return Device(np, "NumPy", f"no GPU used: {missing}. Going on with NumPy." if wanted == "gpu" else "")
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    return Device(cupy, f"CuPy on {name}")


def to_numpy(array: Array) -> np.ndarray:
    """The array in main memory: itself if it is there already, else a copy (which waits for the GPU)."""
    return array if array_module(array) is np else array.get()


def _usable_cupy() -> tuple[ModuleType | None, str]:
    """CuPy, if arrays can be made and multiplied with it; else None and what is missing, with the remedy."""
    try:
        cupy = importlib.import_module("cupy")
    except ImportError:
        return None, "CuPy is not installed; on a machine with an NVIDIA GPU run: pip install cupy-cuda12x"
    try:
        devices = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # CUDARuntimeError; its type exists only where CuPy imported
        return None, f"no NVIDIA driver found ({_first_line(error)}); install one from nvidia.com/drivers"
    if devices == 0:
        return None, "the NVIDIA driver reports no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES"
    try:
        probe = cupy.ones((2, 2), dtype=np.float32)
        cupy.cuda.runtime.deviceSynchronize()
        float((probe @ probe + 1).sum())  # compiles a kernel and calls cuBLAS: both libraries must be there
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return None, f"the GPU refuses ({_first_line(error)}); look at nvidia-smi: is it in use?"
    except Exception as error:  # RuntimeError or ImportError, depending on which library is missing
        remedy = 'pip install "cupy-cuda12x[ctk]"'
        return None, f"the CUDA libraries are missing ({_first_line(error)}); run: {remedy}"
    return cupy, ""


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
