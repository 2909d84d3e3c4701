"""The machine, and the most that its card gives: how fast it copies, and multiplies large matrices.

    python -m tests.lab.ceilings

prints that as JSON.
"""

import json
import subprocess
from collections.abc import Callable
from importlib import metadata
from types import ModuleType

import numpy as np

from tinyvit.backend import Device, cupy_package, select_device
from tinyvit.bench.timing import card_seconds
from tinyvit.engine.cuda.cublas import WORKSPACE_BYTES, Cublas
from tinyvit.engine.cuda.launch import Buffer, Product
from tinyvit.support.errors import UserError
from tinyvit.support.shell.ending import ending


def usable_gpu() -> Device:
    """The GPU. Raises UserError, which says what there is to do without one."""
    device = select_device("gpu")
    if not device.is_gpu:
        raise UserError(device.note.removesuffix(" NumPy is used instead."))
    return device


def machine(device: Device) -> dict[str, str]:
    """The names and versions without which a figure says nothing."""
    driver = subprocess.getoutput("nvidia-smi --query-gpu=driver_version --format=csv,noheader")
    versions = {found.metadata["Name"]: found.version for found in metadata.distributions()}
    number = device.xp.cuda.runtime.runtimeGetVersion()  # 12040 is 12.4
    return {
        "card": device.label.removeprefix("CuPy on "),
        "driver": driver.partition("\n")[0],
        "CUDA": f"{number // 1000}.{number % 1000 // 10}",
        "CuPy": versions.get(cupy_package(), "unknown"),
        "PyTorch": versions.get("torch", "not installed"),
    }


def ceilings(xp: ModuleType, size: int = 1 << 30, side: int = 8192) -> dict[str, str]:
    """The rates of copying `size` bytes, and of a bf16 product of square matrices of random numbers."""
    source, target = xp.zeros(size, "uint8"), xp.zeros(size, "uint8")
    copying = _seconds(xp, lambda: xp.copyto(target, source))
    floats = np.random.default_rng(0).standard_normal((2, side, side), "float32")
    a, b = map(xp.asarray, (floats.view("uint32") >> 16).astype("uint16"))  # bf16, cut off
    c, blas = xp.zeros((side, side), "uint16"), Cublas("bf16", xp.zeros(WORKSPACE_BYTES, "uint8"))
    blas.use(xp.cuda.get_current_stream().ptr)
    matrix = Buffer("matrix", (side, side), "bfloat16")
    product, places = Product(matrix, matrix, matrix), [array.data.ptr for array in (a, b, c)]
    multiplying = _seconds(xp, lambda: blas.multiply(product, *places))
    return {
        "a copy, read and written": f"{2e-9 * size / copying:,.0f} GB/s",
        f"a product of {side} x {side} numbers in bf16": f"{2e-12 * side**3 / multiplying:,.0f} TFLOP/s",
    }


def _seconds(xp: ModuleType, step: Callable[[], None]) -> float:
    seconds = card_seconds(step, 40, xp.cuda.Event, xp.cuda.get_elapsed_time)
    return float(np.median(seconds[20:]))  # the first are a warm-up


if __name__ == "__main__":
    with ending("tests.lab.ceilings"):
        device = usable_gpu()
        print(json.dumps({"machine": machine(device), "ceilings": ceilings(device.xp)}))
